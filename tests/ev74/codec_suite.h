// SPDX-License-Identifier: LGPL-2.1-or-later
// What every EV74 codec must do, whatever the operation. A contract file derives a Codec type from CodecOf with the
// operation's functions, adds its wire number, its rules and a sample, and instantiates the suite with it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <simaai/kernels/ev74/cast.h>
#include <simaai/kernels/ev74/packet.h>
#include <simaai/kernels/ev74/tess.h>
#include <simaai/kernels/status.h>

#include "ev74/generate.h"
#include "ev74/packet_reader.h"
#include "support/allocation_counter.h"

namespace simaai::test {

using kernels::DType;
using kernels::Error;
using kernels::ErrorCode;
using kernels::Operand;
using kernels::TensorSpec;
using kernels::ev74::DeviceRegion;
using kernels::ev74::Invocation;
using kernels::ev74::RegionAccess;
using kernels::ev74::RelocatablePacket;
using kernels::ev74::Relocation;

inline constexpr std::uint64_t kAperture = 4294967296; // 2^32

/// The functions of one operation, under names that the suite can call.
template <class Request, class Plan_, std::variant<Plan_, Error> (*Admit)(const Request&) noexcept,
          std::variant<Plan_, Error> (*CheckRequest)(const Request&) noexcept,
          kernels::Status (*CheckPlan)(const Plan_&) noexcept,
          std::variant<Invocation, Error> (*Encode)(const Plan_&, const DeviceRegion&,
                                                    const DeviceRegion&) noexcept,
          std::variant<RelocatablePacket, Error> (*EncodeRelocatable)(const Plan_&) noexcept,
          std::variant<Invocation, Error> (*Bind)(const RelocatablePacket&, const DeviceRegion&,
                                                  const DeviceRegion&) noexcept>
struct CodecOf {
  using Plan = Plan_;
  static Request request(const GeneratedCase& c) {
    Request made;
    made.inputs = {&c.source, 1};
    made.outputs = {&c.destination, 1};
    if constexpr (requires { made.params.int8_channel_padding; })
      made.params.int8_channel_padding = c.padding;
    return made;
  }
  static auto admit(const GeneratedCase& c) { return Admit(request(c)); }
  static auto check_request(const GeneratedCase& c) { return CheckRequest(request(c)); }
  static auto check(const Plan& plan) { return CheckPlan(plan); }
  static auto encode(const Plan& plan, const DeviceRegion& source,
                     const DeviceRegion& destination) {
    return Encode(plan, source, destination);
  }
  static auto encode_relocatable(const Plan& plan) { return EncodeRelocatable(plan); }
  static auto bind(const RelocatablePacket& packet, const DeviceRegion& source,
                   const DeviceRegion& destination) {
    return Bind(packet, source, destination);
  }
};

inline std::vector<std::byte> copied(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

/// The refusal of a result; a test failure where there is none.
template <class Value> Error refusal(const std::variant<Value, Error>& result) {
  const auto* error = std::get_if<Error>(&result);
  if (error == nullptr) {
    ADD_FAILURE() << "accepted";
    return {};
  }
  EXPECT_FALSE(error->message().empty());
  return *error;
}

/// The plan of a request that must be admitted.
template <class Codec> typename Codec::Plan admitted(const GeneratedCase& request) {
  const auto result = Codec::admit(request);
  if (const auto* error = std::get_if<Error>(&result))
    throw std::runtime_error(error->message());
  return std::get<typename Codec::Plan>(result);
}

/// Bytes of the relocatable packet of a request that must be encoded.
template <class Codec> std::vector<std::byte> relocatable_bytes(const GeneratedCase& request) {
  const auto result = Codec::encode_relocatable(admitted<Codec>(request));
  if (const auto* error = std::get_if<Error>(&result))
    throw std::runtime_error(error->message());
  return copied(std::get<RelocatablePacket>(result).bytes());
}

template <class Codec> class EvCodec : public ::testing::Test {
protected:
  void SetUp() override {
    needs_ = {plan_.input_requirement().bytes, plan_.output_requirement().bytes};
    source_ = {0x10000, needs_[0]};
    destination_ = {0x800000, needs_[1]};
  }

  void expect_refused(const DeviceRegion& source, const DeviceRegion& destination,
                      const Error& expected) {
    EXPECT_EQ(refusal(Codec::encode(plan_, source, destination)), expected);
    const auto packet = std::get<RelocatablePacket>(Codec::encode_relocatable(plan_));
    EXPECT_EQ(refusal(Codec::bind(packet, source, destination)), expected);
  }

  void expect_bound(const DeviceRegion& source, const DeviceRegion& destination) {
    const auto result = Codec::encode(plan_, source, destination);
    const auto* invocation = std::get_if<Invocation>(&result);
    ASSERT_NE(invocation, nullptr) << std::get<Error>(result).message();
    const PacketFields fields = read_packet(invocation->bytes());
    EXPECT_EQ(fields.source_address, source.address);
    EXPECT_EQ(fields.destination_address, destination.address);
  }

  const GeneratedCase sample_ = Codec::sample();
  const typename Codec::Plan plan_ = admitted<Codec>(sample_);
  std::array<std::uint64_t, 2> needs_{};
  DeviceRegion source_;
  DeviceRegion destination_;
};
TYPED_TEST_SUITE_P(EvCodec);

TYPED_TEST_P(EvCodec, GeneratedPlansReadBackFieldByField) {
  oracle::Random random(0xE74000 + TypeParam::kNumber);
  std::size_t dense = 0;
  std::size_t strided = 0;
  std::size_t blocked = 0;
  for (std::size_t index = 0; index < 300; ++index) {
    const GeneratedCase request = generate_case(TypeParam::rules(), index, random);
    const auto plan = admitted<TypeParam>(request);
    EXPECT_TRUE(TypeParam::check(plan).ok());
    PacketFields expected =
        expected_packet(TypeParam::kNumber, request.source, request.destination, request.padding);
    const auto unbound = TypeParam::encode_relocatable(plan);
    const auto& packet = std::get<RelocatablePacket>(unbound);
    ASSERT_EQ(read_packet(packet.bytes()), expected) << "case " << index;
    ASSERT_EQ(packet.bytes().size(), expected.packet_bytes);

    const DeviceRegion source{16 * (1 + random.below(1000)), expected.source_capacity};
    const DeviceRegion destination{0x40000000 + 16 * random.below(1000),
                                   expected.destination_capacity + random.below(9)};
    const auto direct = std::get<Invocation>(TypeParam::encode(plan, source, destination));
    const auto bound = std::get<Invocation>(TypeParam::bind(packet, source, destination));
    ASSERT_EQ(copied(direct.bytes()), copied(bound.bytes())) << "case " << index;
    expected.source_address = source.address;
    expected.destination_address = destination.address;
    ASSERT_EQ(read_packet(direct.bytes()), expected) << "case " << index;
    (expected.packet_bytes == 216 ? strided : dense) += 1;
    blocked += (expected.flags & 2) != 0 ? 1 : 0;
  }
  EXPECT_GT(dense, 30U);
  EXPECT_EQ(strided > 30U, TypeParam::kNumber != 1);
  EXPECT_EQ(blocked > 30U, TypeParam::rules().blocked);
}

TYPED_TEST_P(EvCodec, RelocationsNameSlotsLengthsAndAccess) {
  const auto packet = std::get<RelocatablePacket>(TypeParam::encode_relocatable(this->plan_));
  const CaseRules rules = TypeParam::rules();
  const std::uint32_t from =
      rules.tiled_source ? 16 : kernels::scalar_bytes(this->sample_.source.dtype);
  const std::uint32_t to =
      rules.tiled_destination ? 16 : kernels::scalar_bytes(this->sample_.destination.dtype);
  EXPECT_EQ(packet.relocations()[0], (Relocation{24, from, this->needs_[0], RegionAccess::Read}));
  EXPECT_EQ(packet.relocations()[1], (Relocation{32, to, this->needs_[1], RegionAccess::Write}));
}

TYPED_TEST_P(EvCodec, PacketStorageIsAlignedAndRepeatable) {
  const auto first = TypeParam::encode(this->plan_, this->source_, this->destination_);
  const auto second = TypeParam::encode(this->plan_, this->source_, this->destination_);
  const auto& invocation = std::get<Invocation>(first);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(invocation.bytes().data()) % 8, 0U);
  EXPECT_EQ(copied(invocation.bytes()), copied(std::get<Invocation>(second).bytes()));
}

TYPED_TEST_P(EvCodec, CapacityFieldsHoldTheSpanNotTheRegion) {
  const auto result = TypeParam::encode(this->plan_, {0x10000, 0x10000}, {0x800000, UINT64_MAX});
  const PacketFields fields = read_packet(std::get<Invocation>(result).bytes());
  EXPECT_EQ(fields.source_capacity, this->needs_[0]);
  EXPECT_EQ(fields.destination_capacity, this->needs_[1]);
}

TYPED_TEST_P(EvCodec, EmptyPlanIsNoWork) {
  GeneratedCase empty = this->sample_;
  const auto extents = empty.source.shape.extents();
  std::vector<std::int64_t> changed(extents.begin(), extents.end());
  changed.front() = 0;
  // An empty tensor never reaches the device, so its other extents do not matter either.
  changed.back() = std::int64_t{1} << 40;
  empty.source.shape = kernels::Shape(changed);
  empty.destination.shape = kernels::Shape(changed);
  empty.source.layout = TypeParam::rules().tiled_source ? empty.source.layout
                                                        : kernels::Layout(kernels::Contiguous{});
  const auto plan = admitted<TypeParam>(empty);
  EXPECT_TRUE(TypeParam::check(plan).ok());
  EXPECT_EQ(refusal(TypeParam::encode_relocatable(plan)).code, ErrorCode::NoWork);
  EXPECT_EQ(refusal(TypeParam::encode(plan, {}, {})).code, ErrorCode::NoWork);
}

TYPED_TEST_P(EvCodec, RequestFormAdmitsAndChecks) {
  const auto good = TypeParam::check_request(this->sample_);
  ASSERT_TRUE(std::holds_alternative<typename TypeParam::Plan>(good));
  EXPECT_EQ(std::get<typename TypeParam::Plan>(good).input(), this->sample_.source);
  GeneratedCase wrong = this->sample_;
  wrong.destination.dtype = DType::Int32;
  EXPECT_EQ(refusal(TypeParam::check_request(wrong)), refusal(TypeParam::admit(wrong)));
}

TYPED_TEST_P(EvCodec, RefusesZeroAddress) {
  this->expect_refused({0, this->needs_[0]}, this->destination_,
                       {ErrorCode::ZeroDeviceAddress, Operand::Input, 0, -1,
                        this->plan_.input_requirement().alignment, 0});
  this->expect_refused(this->source_, {0, this->needs_[1]},
                       {ErrorCode::ZeroDeviceAddress, Operand::Output, 0, -1,
                        this->plan_.output_requirement().alignment, 0});
}

TYPED_TEST_P(EvCodec, RefusesMisalignedAddress) {
  const std::uint32_t from = this->plan_.input_requirement().alignment;
  const std::uint32_t to = this->plan_.output_requirement().alignment;
  for (std::uint32_t off = 1; off < from; ++off)
    this->expect_refused({0x10000 + off, 0x1000}, this->destination_,
                         {ErrorCode::BufferMisaligned, Operand::Input, 0, -1, from, off});
  for (std::uint32_t off = 1; off < to; ++off)
    this->expect_refused(this->source_, {0x10000 + off, 0x1000},
                         {ErrorCode::BufferMisaligned, Operand::Output, 0, -1, to, off});
  this->expect_bound({0x10000 + from, 0x1000}, {0x20000 + to, 0x1000});
}

TYPED_TEST_P(EvCodec, RefusesShortRegion) {
  const auto input = static_cast<std::int64_t>(this->needs_[0]);
  const auto output = static_cast<std::int64_t>(this->needs_[1]);
  this->expect_refused({0x10000, this->needs_[0] - 1}, this->destination_,
                       {ErrorCode::BufferTooSmall, Operand::Input, 0, -1, input, input - 1});
  this->expect_refused(this->source_, {0x800000, this->needs_[1] - 1},
                       {ErrorCode::BufferTooSmall, Operand::Output, 0, -1, output, output - 1});
  this->expect_refused(this->source_, {0x800000, 0},
                       {ErrorCode::BufferTooSmall, Operand::Output, 0, -1, output, 0});
}

TYPED_TEST_P(EvCodec, ApertureEndIsExact) {
  const auto end = static_cast<std::int64_t>(kAperture);
  for (const bool output : {false, true}) {
    const std::uint64_t span = this->needs_[output ? 1 : 0];
    const std::uint32_t step = output ? this->plan_.output_requirement().alignment
                                      : this->plan_.input_requirement().alignment;
    const Operand operand = output ? Operand::Output : Operand::Input;
    const std::uint64_t last = (kAperture - span) / step * step;
    const DeviceRegion fits{last, span};
    const DeviceRegion beyond{last + step, span};
    const auto reached = static_cast<std::int64_t>(last + step + span);
    const auto past = [&](const DeviceRegion& region, std::int64_t found) {
      this->expect_refused(output ? this->source_ : region, output ? region : this->destination_,
                           {ErrorCode::ApertureExceeded, operand, 0, -1, end, found});
    };
    this->expect_bound(output ? this->source_ : fits, output ? fits : this->destination_);
    past(beyond, reached);
    // The sum wraps around 2^64: reported as the largest value.
    past({UINT64_MAX - 15, UINT64_MAX}, INT64_MAX);
    past({kAperture + 0x1000, span}, static_cast<std::int64_t>(kAperture + 0x1000 + span));
  }
}

TYPED_TEST_P(EvCodec, RefusesOverlapOfSpansOnly) {
  const std::uint64_t base = 0x100000;
  const auto up = [](std::uint64_t value) { return (value + 15) / 16 * 16; };
  const auto shared = [](std::int64_t bytes) {
    return Error{ErrorCode::BuffersOverlap, Operand::Output, 0, -1, 0, bytes};
  };
  const DeviceRegion source{base, this->needs_[0]};
  const std::uint64_t smaller = std::min(this->needs_[0], this->needs_[1]);
  this->expect_refused(source, {base, this->needs_[1]}, shared(static_cast<std::int64_t>(smaller)));
  // The last aligned address inside the other span, and the first one behind it.
  const std::uint64_t after = up(base + this->needs_[0]);
  const std::uint64_t tail = base + this->needs_[0] - (after - 16);
  this->expect_refused(source, {after - 16, this->needs_[1]},
                       shared(static_cast<std::int64_t>(std::min(tail, this->needs_[1]))));
  this->expect_bound(source, {after, this->needs_[1]});
  const std::uint64_t before = (base - this->needs_[1]) / 16 * 16;
  const std::uint64_t reach = before + 16 + this->needs_[1] - base;
  this->expect_refused(source, {before + 16, this->needs_[1]},
                       shared(static_cast<std::int64_t>(std::min(reach, this->needs_[0]))));
  this->expect_bound(source, {before, this->needs_[1]});
  // Capacities beyond the spans may intersect.
  this->expect_bound({base, 0x100000}, {after, 0x100000});
}

TYPED_TEST_P(EvCodec, BindRefusesOtherOperations) {
  namespace cast = kernels::ops::cast;
  namespace tess = kernels::ops::tess;
  const TensorSpec f32{{2, 3}, DType::Float32};
  const TensorSpec bf16{{2, 3}, DType::BFloat16};
  kernels::MlaTiled layout;
  layout.axes = {-1, -1, 0, 1};
  const TensorSpec tiled{{2, 3}, DType::BFloat16, layout};
  const auto cast_plan = std::get<cast::Plan>(cast::check_inference({{&f32, 1}, {&bf16, 1}, {}}));
  const auto tess_plan = std::get<tess::Plan>(tess::check_inference({{&bf16, 1}, {&tiled, 1}, {}}));
  const auto foreign = TypeParam::kNumber == 1 ? kernels::ev74::tess::encode_relocatable(tess_plan)
                                               : kernels::ev74::cast::encode_relocatable(cast_plan);
  const std::int64_t other = TypeParam::kNumber == 1 ? 2 : 1;
  EXPECT_EQ(refusal(TypeParam::bind(std::get<RelocatablePacket>(foreign), {0x10000, 0x1000},
                                    {0x20000, 0x1000})),
            (Error{ErrorCode::PacketMalformed, Operand::Packet, 0, 6, TypeParam::kNumber, other}));
}

TYPED_TEST_P(EvCodec, RefusesExtentsAndTilesAbove31Bits) {
  constexpr std::int64_t kMost = 2147483647;
  GeneratedCase large = this->sample_;
  const auto extents = large.source.shape.extents();
  std::vector<std::int64_t> changed(extents.begin(), extents.end());
  changed[0] = kMost + 1;
  large.source.shape = kernels::Shape(changed);
  large.destination.shape = kernels::Shape(changed);
  const Error extent{ErrorCode::ExtentTooLarge, Operand::Input, 0, 0, kMost, kMost + 1};
  const auto plan = admitted<TypeParam>(large);
  EXPECT_EQ(TypeParam::check(plan).error(), extent);
  EXPECT_EQ(refusal(TypeParam::check_request(large)), extent);
  EXPECT_EQ(refusal(TypeParam::encode_relocatable(plan)), extent);
  EXPECT_EQ(refusal(TypeParam::encode(plan, {0x10000, 0x1000}, {0x20000, 0x1000})), extent);

  const CaseRules rules = TypeParam::rules();
  if (!rules.tiled_source && !rules.tiled_destination)
    return;
  for (std::int16_t slot = 0; slot < 4; ++slot) {
    GeneratedCase tile = this->sample_;
    TensorSpec& spec = rules.tiled_source ? tile.source : tile.destination;
    auto& layout = std::get<kernels::MlaTiled>(spec.layout);
    const auto at = static_cast<std::size_t>(slot);
    if (layout.axes[at] < 0)
      continue;
    const Operand operand = rules.tiled_source ? Operand::Input : Operand::Output;
    layout.tile_shape[at] = kMost;
    EXPECT_TRUE(TypeParam::check(admitted<TypeParam>(tile)).ok());
    layout.tile_shape[at] = kMost + 1;
    const Error expected{ErrorCode::TileTooLarge, operand, 0, slot, kMost, kMost + 1};
    EXPECT_EQ(TypeParam::check(admitted<TypeParam>(tile)).error(), expected);
    EXPECT_EQ(refusal(TypeParam::encode_relocatable(admitted<TypeParam>(tile))), expected);
  }
}

TYPED_TEST_P(EvCodec, ParsedPacketEqualsTheEncodedOne) {
  const auto encoded = std::get<RelocatablePacket>(TypeParam::encode_relocatable(this->plan_));
  const auto bytes = copied(encoded.bytes());
  const auto parsed = std::get<RelocatablePacket>(kernels::ev74::parse_relocatable(bytes));
  EXPECT_EQ(copied(parsed.bytes()), bytes);
  EXPECT_TRUE(std::ranges::equal(parsed.relocations(), encoded.relocations()));
  const auto again = TypeParam::bind(parsed, this->source_, this->destination_);
  EXPECT_TRUE(std::holds_alternative<Invocation>(again));
}

TYPED_TEST_P(EvCodec, ParseRefusesEveryTruncationAndExtension) {
  auto bytes = relocatable_bytes<TypeParam>(this->sample_);
  const std::size_t whole = bytes.size();
  for (std::size_t size = 0; size < whole; ++size) {
    const Error error = refusal(kernels::ev74::parse_relocatable(std::span(bytes).first(size)));
    const auto wanted = static_cast<std::int64_t>(size < 104 ? 104 : whole);
    EXPECT_EQ(error, (Error{ErrorCode::PacketTooSmall, Operand::Packet, 0, -1, wanted,
                            static_cast<std::int64_t>(size)}));
  }
  bytes.resize(whole + 1);
  EXPECT_EQ(refusal(kernels::ev74::parse_relocatable(bytes)).code, ErrorCode::PacketMalformed);
}

TYPED_TEST_P(EvCodec, ParseAcceptsNoByteThatItWouldNotWrite) {
  // Every one of a packet's bytes with every other value: refused, or kept as it is.
  const auto good = relocatable_bytes<TypeParam>(this->sample_);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (unsigned flip = 1; flip < 256; ++flip) {
      auto bytes = good;
      bytes[at] ^= static_cast<std::byte>(flip);
      const auto parsed = kernels::ev74::parse_relocatable(bytes);
      if (const auto* packet = std::get_if<RelocatablePacket>(&parsed))
        ASSERT_EQ(copied(packet->bytes()), bytes) << "byte " << at;
      else
        ++refused;
    }
  }
  EXPECT_GT(refused, good.size() * 255 / 2);
}

TYPED_TEST_P(EvCodec, AllocatesNothing) {
  const auto bytes = relocatable_bytes<TypeParam>(this->sample_);
  const std::uint64_t before = allocations_of_this_thread();
  const auto packet = TypeParam::encode_relocatable(this->plan_);
  const auto direct = TypeParam::encode(this->plan_, this->source_, this->destination_);
  const auto refused = TypeParam::encode(this->plan_, {}, {});
  const auto bound =
      TypeParam::bind(std::get<RelocatablePacket>(packet), this->source_, this->destination_);
  const auto parsed = kernels::ev74::parse_relocatable(bytes);
  EXPECT_EQ(allocations_of_this_thread() - before, 0U);
  EXPECT_TRUE(std::holds_alternative<Invocation>(direct));
  EXPECT_TRUE(std::holds_alternative<Error>(refused));
  EXPECT_TRUE(std::holds_alternative<Invocation>(bound));
  EXPECT_TRUE(std::holds_alternative<RelocatablePacket>(parsed));
}

REGISTER_TYPED_TEST_SUITE_P(EvCodec, GeneratedPlansReadBackFieldByField,
                            RelocationsNameSlotsLengthsAndAccess,
                            PacketStorageIsAlignedAndRepeatable,
                            CapacityFieldsHoldTheSpanNotTheRegion, EmptyPlanIsNoWork,
                            RequestFormAdmitsAndChecks, RefusesZeroAddress,
                            RefusesMisalignedAddress, RefusesShortRegion, ApertureEndIsExact,
                            RefusesOverlapOfSpansOnly, BindRefusesOtherOperations,
                            RefusesExtentsAndTilesAbove31Bits, ParsedPacketEqualsTheEncodedOne,
                            ParseRefusesEveryTruncationAndExtension,
                            ParseAcceptsNoByteThatItWouldNotWrite, AllocatesNothing);

} // namespace simaai::test
