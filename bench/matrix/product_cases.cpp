// SPDX-License-Identifier: LGPL-2.1-or-later
// gemv and matmul: our levels, the flat loops and the peers on the same random operands.
#include "product_cases.h"

#include <simaai/kernels/matrix/dyn_matrix.h>

#include "loops.h"
#include "matrix/backends.h"
#include "matrix/reference.h"
#include "peers.h"

namespace matrix_bench {
namespace {

namespace km = simaai::kernels::matrix;

Buffer<std::int8_t> flatten(const reference::Rows& rows) {
  Buffer<std::int8_t> result;
  for (const reference::Row& row : rows)
    for (const int value : row)
      result.push_back(static_cast<std::int8_t>(value));
  return result;
}

std::shared_ptr<Product> random_product(std::size_t rows, std::size_t inner, std::size_t cols) {
  reference::Random random(static_cast<std::uint32_t>(rows + 3 * inner + 7 * cols));
  const reference::Rows a = random.rows(rows, inner);
  const reference::Rows b = random.rows(inner, cols);
  auto product = std::make_shared<Product>();
  // The scale brings most sums of random elements into the range of an element.
  *product = {rows, inner, cols, flatten(a), flatten(b), {}, 38'997'123, 36, {}};
  for (const auto& row : reference::product(a, b))
    for (const std::int64_t sum : row) {
      product->expected.push_back(static_cast<std::int32_t>(sum));
      product->expected_elements.push_back(static_cast<std::int8_t>(
          reference::requantized(sum, product->multiplier, product->shift)));
    }
  return product;
}

/// Outputs of one of our candidates and their comparison.
struct Outputs {
  explicit Outputs(const Product& product)
      : sums(product.expected.size()), elements(product.expected.size()) {}
  Buffer<std::int32_t> sums;
  Buffer<std::int8_t> elements;
};

class Builder {
public:
  explicit Builder(std::shared_ptr<Product> product) : product_(std::move(product)) {}

  void add_plain(std::string name, auto call) {
    const auto out = std::make_shared<Outputs>(*product_);
    add(
        std::move(name), [call, out] { call(*out); },
        [product = product_, out] {
          return out->sums == product->expected ? Verdict::Exact : Verdict::Inexact;
        });
  }
  void add_requantized(std::string name, auto call) {
    const auto out = std::make_shared<Outputs>(*product_);
    add(
        std::move(name), [call, out] { call(*out); },
        [product = product_, out] {
          return out->elements == product->expected_elements ? Verdict::Exact : Verdict::Inexact;
        });
  }
  [[nodiscard]] const Product& product() const { return *product_; }

  Case finish(std::string name) {
    const Product& p = *product_;
#if defined(SIMAAI_BENCH_ONEDNN)
    append(onednn_candidates(p));
#endif
#if defined(SIMAAI_BENCH_XNNPACK)
    append(xnnpack_candidates(p));
#endif
    return {std::move(name), static_cast<double>(p.rows * p.inner * p.cols), "MAC",
            std::move(candidates_), product_};
  }

private:
  void append(const std::vector<Candidate>& list) {
    candidates_.insert(candidates_.end(), list.begin(), list.end());
  }
  void add(std::string name, auto call, std::function<Verdict()> verify) {
    candidates_.push_back(candidate(std::move(name), call, std::move(verify), true));
  }
  std::shared_ptr<Product> product_;
  std::vector<Candidate> candidates_;
};

void add_flat(Builder& builder, bool with_slowest) {
  const Product* p = &builder.product();
  const auto loop = [p](const Loops& loops) {
    return [p, &loops](Outputs& out) {
      if (p->cols == 1)
        loops.gemv(p->a.data(), p->b.data(), out.sums.data(), p->rows, p->inner);
      else
        loops.matmul(p->a.data(), p->b.data(), out.sums.data(), p->rows, p->inner, p->cols);
    };
  };
  if (with_slowest)
    builder.add_plain("flat", loop(flat_loops));
  builder.add_plain("plain", loop(plain_loops));
}

Buffer<std::int8_t> transposed(const Buffer<std::int8_t>& a, std::size_t rows, std::size_t cols) {
  Buffer<std::int8_t> result(a.size());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t col = 0; col < cols; ++col)
      result[col * rows + row] = a[row * cols + col];
  return result;
}

template <std::size_t R, std::size_t C, class O> void add_typed_gemv(Builder& b, const char* tail) {
  using M = km::Matrix<R, C, O>;
  const Product* p = &b.product();
  const auto matrix =
      at_line(M::relocated(km::MatrixRef<R, C>(std::span<const std::int8_t, R * C>(p->a))));
  b.add_plain(std::string(kOurs) + tail, [p, matrix](Outputs& out) {
    km::gemv(*matrix, std::span<const std::int8_t, C>(p->b), std::span<std::int32_t, R>(out.sums));
  });
  b.add_requantized(std::string("requantized") + tail, [p, matrix](Outputs& out) {
    km::gemv_requantized(*matrix, std::span<const std::int8_t, C>(p->b),
                         km::Requant(p->multiplier, p->shift),
                         std::span<std::int8_t, R>(out.elements));
  });
}

void add_levels(Builder& builder, bool with_slowest) {
  const Product* p = &builder.product();
  for (const km::detail::Backend* level : km::detail::available_backends())
    if (with_slowest || level != &km::detail::scalar_backend)
      builder.add_plain(std::string("level_") + level->name, [p, level](Outputs& out) {
        const km::detail::PlainView a{p->a.data(), p->rows, p->inner, p->inner, 1};
        const km::detail::PlainView b{p->b.data(), p->inner, p->cols, p->cols, 1};
        const km::detail::PlainOutput c{out.sums.data(), nullptr, nullptr, p->cols, 1};
        if (p->cols == 1)
          level->gemv(a, p->b.data(), {out.sums.data(), nullptr, nullptr, 1, p->rows});
        else
          level->matmul(a, b, c);
      });
}

} // namespace

template <std::size_t R, std::size_t C> Case gemv_case(std::string name) {
  Builder builder(random_product(R, C, 1));
  add_typed_gemv<R, C, km::RowMajor>(builder, "");
  add_typed_gemv<R, C, km::ColMajor>(builder, "_col_major");
  add_levels(builder, true);
  add_flat(builder, true);
  return builder.finish(std::move(name));
}
template Case gemv_case<64, 256>(std::string);
template Case gemv_case<1024, 1024>(std::string);

Case matmul_case(std::size_t extent) {
  const auto product = random_product(extent, extent, extent);
  Builder builder(product);
  const Product* p = product.get();
  using km::DynOrder;
  const auto view = [extent](const Buffer<std::int8_t>& bytes, DynOrder order) {
    return *km::DynMatrixRef::create(bytes, extent, extent, order);
  };
  const auto a = view(p->a, DynOrder::RowMajor);
  const auto b = view(p->b, DynOrder::RowMajor);
  builder.add_plain(kOurs, [a, b](Outputs& out) { matmul(a, b, out.sums, DynOrder::RowMajor); });
  builder.add_requantized("requantized", [a, b, p](Outputs& out) {
    matmul_requantized(a, b, km::Requant(p->multiplier, p->shift), out.elements,
                       DynOrder::RowMajor);
  });
  // Both operands in the other order: strided packing.
  const auto moved = std::make_shared<Buffer<std::int8_t>>(transposed(p->a, extent, extent));
  const auto moved_b = std::make_shared<Buffer<std::int8_t>>(transposed(p->b, extent, extent));
  builder.add_plain("ours_a_col_major", [moved, b, view](Outputs& out) {
    matmul(view(*moved, DynOrder::ColMajor), b, out.sums, DynOrder::RowMajor);
  });
  builder.add_plain("ours_b_col_major", [moved_b, a, view](Outputs& out) {
    matmul(a, view(*moved_b, DynOrder::ColMajor), out.sums, DynOrder::RowMajor);
  });
  const bool with_slowest = extent <= 256;
  add_levels(builder, with_slowest);
  add_flat(builder, with_slowest);
  const std::string size = std::to_string(extent);
  return builder.finish("matmul " + size + "^3");
}

} // namespace matrix_bench
