# SPDX-License-Identifier: LGPL-2.1-or-later
"""The speed that is asked for, as data, and the judgement of one measured row."""
import dataclasses
import re

LEAST_TRAFFIC = 64 * 1024  # bytes read and written a call, below which only the time of a call counts


@dataclasses.dataclass(frozen=True)
class Floor:
    """Applies to the cases that `case` matches and `when` admits; `ratios` are least times of peers over ours."""

    case: str
    ratios: tuple = ()  # (peer, least ratio); peers: see Row.ratio
    when: object = None  # Row -> bool
    most_ns: float = 0  # upper limit of the time of a call instead of ratios


def channels_from_64(row):
    return row.channels >= 64


def three_channels(row):
    return row.channels == 3


def three_channels_up_to_2_mb(row):  # either tensor
    return row.channels == 3 and row.largest <= 2_000_000


def whole_blocks(row):
    return row.channels % 16 == 0


def broken_blocks(row):
    return row.channels % 16 != 0


# Names of cases: operation/shape/from-to/storage/linear/cache.
DENSE = r"/\w+/dense/"
FLOORS = (
    Floor(r"^\w+/call_1x1x16/.*/dense/hot$", most_ns=60),
    Floor(r"^casttess/.*/f32-bf16" + DENSE + "hot$", (("memcpy", 0.75), ("onednn", 1.25)), channels_from_64),
    Floor(r"^casttess/.*/f32-bf16" + DENSE + "cold$", (("shaped_nt", 0.80), ("onednn", 2.5)), channels_from_64),
    Floor(r"^casttess/.*/f32-bf16" + DENSE + "hot$", (("memcpy", 0.60),), three_channels_up_to_2_mb),
    Floor(r"^casttess/.*/f32-bf16" + DENSE + "cold$", (("best_shaped", 0.90),), three_channels),
    Floor(r"^casttess/.*/f16-bf16" + DENSE + "hot$", (("memcpy", 0.60),), channels_from_64),
    Floor(r"^casttess/.*/bf16-bf16" + DENSE + "hot$", (("memcpy", 0.75),), channels_from_64),
    Floor(r"^detesscast/.*/bf16-f32" + DENSE + "hot$", (("memcpy", 0.80), ("onednn", 1.05))),
    Floor(r"^detesscast/.*/bf16-f32" + DENSE + "cold$", (("best_shaped", 0.90),), whole_blocks),
    Floor(r"^detesscast/.*/bf16-f32" + DENSE + "cold$", (("onednn", 1.0),), broken_blocks),
    Floor(r"^cast/.*" + DENSE + "hot$", (("best_loop", 0.95),)),
    Floor(r"^cast/.*" + DENSE + "cold$", (("best_loop", 1.1),)),
    Floor(r"^(tess|detess)/.*/bf16-bf16" + DENSE, (("memcpy", 0.75), ("onednn", 1.5))),
    Floor(r"^(tess|detess)/.*/i8-i8" + DENSE, (("memcpy", 0.58), ("onednn", 2.0))),
    Floor(r"/(planar|spread)/", (("plain", 3.0),)),
)

# Peers that are the faster of several: a floor holds against the best of them.
BEST_OF = {"best_shaped": ("shaped", "shaped_nt"), "best_loop": ("plain", "onednn", "eigen")}


class Row:
    """Our default level in one case: `ratios` maps each peer to (median, least, most) of peer time over our time."""

    def __init__(self, case, ns, ratios, sides, channels, prepare_ns=0.0):
        """`sides`: bytes read and bytes written."""
        self.case, self.ns, self.ratios = case, ns, ratios
        self.traffic, self.largest = sum(sides), max(sides)
        self.channels, self.prepare_ns = channels, prepare_ns

    def ratio(self, peer):
        """Spread of a peer or of the fastest of a group; None where it was not measured."""
        names = [name for name in BEST_OF.get(peer, (peer,)) if name in self.ratios]
        return min((self.ratios[name] for name in names), default=None)

    def floors(self):
        for floor in FLOORS:
            if not re.search(floor.case, self.case) or (floor.when and not floor.when(self)):
                continue
            if floor.most_ns or self.traffic >= LEAST_TRAFFIC:
                yield floor

    def judge(self):
        """('', []) without a floor, ('ok', remarks) or ('BELOW', reasons)."""
        reasons, remarks, applied = [], [], False
        for floor in self.floors():
            applied = True
            if floor.most_ns and self.ns > floor.most_ns:
                reasons.append(f"{self.ns:.0f} ns, at most {floor.most_ns:.0f}")
            for peer, least in floor.ratios:
                measured = self.ratio(peer)
                if measured is None:
                    remarks.append(f"no {peer}")
                elif measured[0] < least:
                    reasons.append(f"{peer} {measured[0]:.3f} < {least:.2f}")
        if reasons:
            return "BELOW", reasons
        return ("ok" if applied else ""), remarks
