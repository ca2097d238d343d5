// SPDX-License-Identifier: LGPL-2.1-or-later
// oneDNN's integer products.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_map>

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "peers.h"

namespace matrix_bench {
namespace {

using dnnl::memory;

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

std::function<Verdict()> compares(const Product& product,
                                  const std::shared_ptr<Buffer<std::int32_t>>& sums) {
  return [&product, sums] { return *sums == product.expected ? Verdict::Exact : Verdict::Inexact; };
}

Candidate gemm(const Product& product) {
  const auto sums = std::make_shared<Buffer<std::int32_t>>(product.expected.size());
  const auto rows = static_cast<std::int64_t>(product.rows);
  const auto inner = static_cast<std::int64_t>(product.inner);
  const auto cols = static_cast<std::int64_t>(product.cols);
  return candidate(
      "onednn_gemm",
      [&product, sums, rows, inner, cols] {
        const std::int32_t offset = 0;
        (void)dnnl::gemm_s8s8s32('N', 'N', 'F', rows, cols, inner, 1.0F, product.a.data(), inner, 0,
                                 product.b.data(), cols, 0, 0.0F, sums->data(), cols, &offset);
      },
      compares(product, sums));
}

/// The same for one column, as a product of a row with the transposed matrix.
Candidate gemm_row(const Product& product) {
  const auto sums = std::make_shared<Buffer<std::int32_t>>(product.expected.size());
  const auto rows = static_cast<std::int64_t>(product.rows);
  const auto inner = static_cast<std::int64_t>(product.inner);
  return candidate(
      "onednn_gemm_t",
      [&product, sums, rows, inner] {
        const std::int32_t offset = 0;
        (void)dnnl::gemm_s8s8s32('N', 'T', 'F', 1, rows, inner, 1.0F, product.b.data(), inner, 0,
                                 product.a.data(), inner, 0, 0.0F, sums->data(), rows, &offset);
      },
      compares(product, sums));
}

/// A matmul primitive on its own buffers. Weights are the right operand.
class Primitive {
public:
  /// left: m x k, right: k x n; `right_tag` says how `right` lies in memory.
  struct Operands {
    std::int64_t m;
    std::int64_t k;
    std::int64_t n;
    const std::int8_t* left;
    const std::int8_t* right;
    memory::format_tag right_tag;
    bool packed;
  };

  /// `scale`: of the target, elements instead of sums; 0: none.
  Primitive(const Operands& from, void* output, float scale) : stream_(cpu_engine()) {
    using Tag = memory::format_tag;
    const memory::desc left({from.m, from.k}, memory::data_type::s8, Tag::ab);
    const memory::desc given({from.k, from.n}, memory::data_type::s8, from.right_tag);
    const memory::desc any({from.k, from.n}, memory::data_type::s8, Tag::any);
    const auto type = scale == 0 ? memory::data_type::s32 : memory::data_type::s8;
    const memory::desc target({from.m, from.n}, type, Tag::ab);
    dnnl::primitive_attr attributes;
    if (scale != 0)
      attributes.set_output_scales(0, {scale});
    const dnnl::matmul::primitive_desc chosen({left, from.packed ? any : given, target}, attributes,
                                              cpu_engine());
    matmul_ = dnnl::matmul(chosen);
    memory source(given, cpu_engine(), const_cast<std::int8_t*>(from.right));
    memory weights = source;
    if (chosen.weights_desc() != given) {
      weights = memory(chosen.weights_desc(), cpu_engine());
      dnnl::reorder(source, weights).execute(stream_, source, weights);
      stream_.wait();
    }
    arguments_ = {{DNNL_ARG_SRC, memory(left, cpu_engine(), const_cast<std::int8_t*>(from.left))},
                  {DNNL_ARG_WEIGHTS, weights},
                  {DNNL_ARG_DST, memory(target, cpu_engine(), output)}};
  }
  void operator()() {
    matmul_.execute(stream_, arguments_);
    stream_.wait();
  }

private:
  dnnl::stream stream_;
  dnnl::matmul matmul_;
  std::unordered_map<int, memory> arguments_;
};

Primitive::Operands operands_of(const Product& product, bool packed) {
  const auto rows = static_cast<std::int64_t>(product.rows);
  const auto inner = static_cast<std::int64_t>(product.inner);
  const auto cols = static_cast<std::int64_t>(product.cols);
  // In a gemv the matrix is the weights: a row times the transposed matrix.
  return product.cols == 1
             ? Primitive::Operands{1,
                                   inner,
                                   rows,
                                   product.b.data(),
                                   product.a.data(),
                                   memory::format_tag::ba,
                                   packed}
             : Primitive::Operands{
                   rows,  inner, cols, product.a.data(), product.b.data(), memory::format_tag::ab,
                   packed};
}

Candidate matmul(const Product& product, bool packed) {
  const auto sums = std::make_shared<Buffer<std::int32_t>>(product.expected.size());
  const auto primitive =
      std::make_shared<Primitive>(operands_of(product, packed), sums->data(), 0.0F);
  return candidate(
      packed ? "onednn_packed" : "onednn_matmul", [primitive] { (*primitive)(); },
      compares(product, sums));
}

Candidate requantized(const Product& product) {
  const auto elements = std::make_shared<Buffer<std::int8_t>>(product.expected.size());
  const auto scale =
      static_cast<float>(std::ldexp(product.multiplier, -static_cast<int>(product.shift)));
  const auto primitive =
      std::make_shared<Primitive>(operands_of(product, true), elements->data(), scale);
  return candidate(
      kOnednnRequantized, [primitive] { (*primitive)(); },
      [&product, elements] { return verdict_of(product, *elements); });
}

} // namespace

std::vector<Candidate> onednn_candidates(const Product& product) {
  omp_set_num_threads(1);
  std::vector<Candidate> result;
  result.push_back(gemm(product));
  if (product.cols == 1)
    result.push_back(gemm_row(product));
  result.push_back(matmul(product, false));
  result.push_back(matmul(product, true));
  result.push_back(requantized(product));
  return result;
}

} // namespace matrix_bench
