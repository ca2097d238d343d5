# SPDX-License-Identifier: LGPL-2.1-or-later
"""The speed that is asked for, as data, and the judgement of one measured row."""
import dataclasses
import re

LEAST_TRAFFIC = 64 * 1024  # bytes read and written a call, below which only the time of a call counts
ROOFLINE = 0.90  # of the bandwidth of the machine for as many bytes read and written; a peer that has it, too, cannot be beaten


@dataclasses.dataclass(frozen=True)
class Floor:
    """Applies to the cases that `case` matches and `when` admits; `ratios` are least times of peers over ours."""

    work: str  # in words
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
    Floor("call on a 1x1x16 tensor", r"^\w+/call_1x1x16/.*/dense/hot$", most_ns=60),
    Floor("CastTess f32, C >= 64, hot", r"^casttess/.*/f32-bf16" + DENSE + "hot$",
          (("memcpy", 0.75), ("onednn", 1.25)), channels_from_64),
    Floor("CastTess f32, C >= 64, cold", r"^casttess/.*/f32-bf16" + DENSE + "cold$",
          (("shaped_nt", 0.80), ("onednn", 2.5)), channels_from_64),
    Floor("CastTess f32, C = 3, hot, up to 2 MB", r"^casttess/.*/f32-bf16" + DENSE + "hot$",
          (("memcpy", 0.60),), three_channels_up_to_2_mb),
    Floor("CastTess f32, C = 3, cold", r"^casttess/.*/f32-bf16" + DENSE + "cold$", (("best_shaped", 0.90),), three_channels),
    Floor("CastTess f16, C >= 64, hot", r"^casttess/.*/f16-bf16" + DENSE + "hot$", (("memcpy", 0.60),), channels_from_64),
    Floor("CastTess bf16, C >= 64, hot", r"^casttess/.*/bf16-bf16" + DENSE + "hot$", (("memcpy", 0.75),), channels_from_64),
    Floor("DetessCast to f32, hot", r"^detesscast/.*/bf16-f32" + DENSE + "hot$", (("memcpy", 0.80), ("onednn", 1.05))),
    Floor("DetessCast to f32, C % 16 = 0, cold", r"^detesscast/.*/bf16-f32" + DENSE + "cold$",
          (("best_shaped", 0.90),), whole_blocks),
    Floor("DetessCast to f32, C % 16 > 0, cold", r"^detesscast/.*/bf16-f32" + DENSE + "cold$", (("onednn", 1.0),), broken_blocks),
    Floor("Cast, hot", r"^cast/.*" + DENSE + "hot$", (("best_loop", 0.95),)),
    Floor("Cast, cold", r"^cast/.*" + DENSE + "cold$", (("best_loop", 1.1),)),
    Floor("Tess, Detess bf16", r"^(tess|detess)/.*/bf16-bf16" + DENSE, (("memcpy", 0.75), ("onednn", 1.5))),
    Floor("Tess, Detess int8", r"^(tess|detess)/.*/i8-i8" + DENSE, (("memcpy", 0.58), ("onednn", 2.0))),
    Floor("strided, channels not contiguous", r"/(planar|spread)/", (("plain", 3.0),)),
)

# Peers that are the faster of several: a floor holds against the best of them.
BEST_OF = {"best_shaped": ("shaped", "shaped_nt"), "best_loop": ("plain", "onednn", "eigen")}


class Row:
    """Our default level in one case: `ratios` maps each peer to (median, least, most) of peer time over our time."""

    def __init__(self, case, ns, ratios, sides, channels, prepare_ns=0.0, missing=None):
        """`sides`: bytes read and bytes written; `missing`: why a peer was not measured."""
        self.case, self.ns, self.ratios = case, ns, ratios
        self.sides, self.traffic, self.largest = sides, sum(sides), max(sides)
        self.channels, self.prepare_ns, self.missing = channels, prepare_ns, missing or {}

    def ratio(self, peer):
        """Spread of a peer or of the fastest of a group; None where it was not measured."""
        names = [name for name in BEST_OF.get(peer, (peer,)) if name in self.ratios]
        return min((self.ratios[name] for name in names), default=None)

    def reason(self, peer):
        """Why a peer, or a whole group, was not measured."""
        return "; ".join(self.missing.get(name, f"no {name}") for name in BEST_OF.get(peer, (peer,)))

    def applies(self, floor):
        if not re.search(floor.case, self.case) or (floor.when and not floor.when(self)):
            return False
        return bool(floor.most_ns) or self.traffic >= LEAST_TRAFFIC

    def at_roofline(self):
        """Whether the bytes are moved at the speed of the better roofline: no peer's figure says more then. Every second
        scalar takes the cache lines of its gaps along."""
        roofline = self.ratio("best_shaped")
        if roofline is None:
            return False
        if "/spread/" in self.case:
            linear = self.sides[1 if self.case.startswith("detess") else 0]
            return roofline[0] * (self.traffic + linear) / self.traffic >= ROOFLINE
        return "/dense/" in self.case and roofline[0] >= ROOFLINE

    def judge(self):
        """('', []) without a floor, ('ok', remarks), ('roofline', reasons) where a floor is missed at the bandwidth of the
        machine, ('BELOW', reasons) or ('not judged', reasons)."""
        below, unknown, held = [], [], False
        for part in parts():
            if not self.applies(part.floor):
                continue
            value = part.value(self)
            if value is None:
                unknown.append(f"no {part.peer}")
            elif part.holds(value):
                held = True
            else:
                below.append(part.text(value))
        if below:
            return "roofline" if self.at_roofline() and all("best_shaped" not in reason for reason in below) else "BELOW", below
        if held:
            return "ok", unknown
        return ("not judged" if unknown else ""), unknown


@dataclasses.dataclass(frozen=True)
class Part:
    """One figure of a floor: a peer and its least ratio, or the upper limit of the time of a call."""

    floor: Floor
    peer: str
    limit: float

    def value(self, row):
        if not self.peer:
            return row.ns
        spread = row.ratio(self.peer)
        return None if spread is None else spread[0]

    def holds(self, value):
        return value >= self.limit if self.peer else value <= self.limit

    def text(self, value):
        return f"{self.peer} {value:.3f} < {self.limit:.2f}" if self.peer else f"{value:.0f} ns, at most {self.limit:.0f}"

    def title(self):
        return f"{self.floor.work}: " + (f"{self.limit:.2f} of {self.peer}" if self.peer else f"{self.limit:.0f} ns")

    def verdict(self, rows):
        """One line on all measured cases of this figure: (word, text)."""
        rows = [row for row in rows if row.applies(self.floor)]
        judged = [(self.value(row), row) for row in rows if self.value(row) is not None]
        reasons = sorted({row.reason(self.peer) for row in rows if self.value(row) is None})
        if not judged:
            return "not judged here", "; ".join(reasons) or "no such case was measured"
        ascending = sorted(judged, key=lambda pair: pair[0], reverse=not self.peer)
        missed = [row for value, row in judged if not self.holds(value)]
        bounded = sum(row.at_roofline() for row in missed) if self.peer and self.peer != "best_shaped" else 0
        below = len(missed) - bounded
        unit = "" if self.peer else " ns"
        text = f"worst {ascending[0][0]:.2f}{unit} ({ascending[0][1].case}), middle {ascending[len(ascending) // 2][0]:.2f}{unit}"
        if len(judged) < len(rows):
            text += f"; {len(rows) - len(judged)} not judged: {'; '.join(reasons)}"
        if bounded:
            text += f"; {bounded} below it at the roofline"
        return (f"BELOW in {below} of {len(judged)}" if below else f"holds in {len(judged) - bounded}"), text


def parts():
    """The figures of all floors, one by one."""
    for floor in FLOORS:
        if floor.most_ns:
            yield Part(floor, "", floor.most_ns)
        for peer, least in floor.ratios:
            yield Part(floor, peer, least)
