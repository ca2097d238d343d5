// SPDX-License-Identifier: LGPL-2.1-or-later
// Status, and messages of every error code.
#include <set>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>

namespace simaai::kernels {
namespace {

constexpr auto kLastCode = ErrorCode::PacketMalformed;

static_assert(std::is_trivially_copyable_v<Error>);
static_assert(std::is_trivially_copyable_v<Status>);
static_assert(std::is_trivially_copyable_v<TensorSpec>);
static_assert(std::is_nothrow_default_constructible_v<Status>);

Status refuse() { return Error{ErrorCode::NullBuffer, Operand::Output, 0, -1, 80, 0}; }

TEST(Status, IsSuccessUntilItHoldsAnError) {
  const Status fine;
  EXPECT_TRUE(fine.ok());
  EXPECT_TRUE(static_cast<bool>(fine));
  EXPECT_EQ(fine.message(), "ok");
  const Status refused = refuse();
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::NullBuffer);
  EXPECT_EQ(refused.message(), refused.error().message());
}

TEST(ErrorMessage, EveryCodeHasAnOwnTextWithItsOperand) {
  std::set<std::string> texts;
  for (int raw = 0; raw <= static_cast<int>(kLastCode); ++raw) {
    Error error{static_cast<ErrorCode>(raw), Operand::Input, 3, 2, 4, 1};
    const std::string text = error.message();
    EXPECT_TRUE(text.starts_with("input 3: ")) << text;
    EXPECT_NE(text.find("expected"), std::string::npos) << text;
    EXPECT_TRUE(texts.insert(text.substr(9)).second) << "said by two codes: " << text;
    error.operand = Operand::Output;
    EXPECT_TRUE(error.message().starts_with("output 3: ")) << error.message();
  }
  // One past the last code is no text of a known one.
  const Error unknown{static_cast<ErrorCode>(static_cast<int>(kLastCode) + 1)};
  EXPECT_TRUE(unknown.message().starts_with("request: error ")) << unknown.message();
}

TEST(ErrorMessage, SaysValuesAndUnits) {
  const Error small{ErrorCode::BufferTooSmall, Operand::Output, 0, -1, 128, 127};
  EXPECT_EQ(small.message(),
            "output 0: buffer capacity: expected at least 128 bytes, found 127 bytes");
  const Error shape{ErrorCode::ShapeMismatch, Operand::Output, 0, 2, 4, 1};
  EXPECT_EQ(shape.message(),
            "output 0: axis 2: expected the input's extent of 4 elements, found 1 element");
  Error axis{ErrorCode::AxisOutOfRange, Operand::Input, 0, 1, 2, -2};
  EXPECT_EQ(axis.message(), "input 0: tile axis H: expected -1 or a logical axis below the rank 2, "
                            "found -2");
  axis.axis = 3; // C cannot be absent
  EXPECT_EQ(axis.message(),
            "input 0: tile axis C: expected a logical axis below the rank 2, found -2");
  const Error dtype{ErrorCode::UnsupportedDType,
                    Operand::Input,
                    0,
                    -1,
                    (1 << static_cast<int>(DType::Int8)) | (1 << static_cast<int>(DType::BFloat16)),
                    static_cast<int>(DType::Float32)};
  EXPECT_EQ(dtype.message(), "input 0: expected dtype int8 or bfloat16, found float32");
  const Error far{ErrorCode::NegativeStride, Operand::Input, 0, 5, 0, INT64_MIN};
  EXPECT_NE(far.message().find("-9223372036854775808"), std::string::npos) << far.message();
}

TEST(ErrorMessage, ValuesOutsideOfTheirTablesAreNumbers) {
  for (int raw = 0; raw <= static_cast<int>(kLastCode); ++raw)
    for (const std::int64_t value : {INT64_MIN, std::int64_t{-1}, std::int64_t{77}, INT64_MAX}) {
      const Error error{
          static_cast<ErrorCode>(raw), static_cast<Operand>(9), 255, 77, value, value};
      EXPECT_TRUE(error.message().starts_with("operand 9: ")) << error.message();
    }
}

TEST(Shape, KeepsAnExcessiveRankForItsRefusal) {
  const Shape shape{1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(shape.rank(), 7U);
  EXPECT_EQ(shape.extents().size(), kMaxRank);
  EXPECT_EQ(shape[5], 6);
  EXPECT_NE(shape, (Shape{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{2, 3, 0}));
}

} // namespace
} // namespace simaai::kernels
