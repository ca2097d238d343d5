// SPDX-License-Identifier: LGPL-2.1-or-later
// The job of the model's tests.
#include "firmware/model_job.h"

#include <array>
#include <stdexcept>
#include <variant>

#include <simaai/kernels/ev74/cast.h>

namespace simaai::test {
namespace {

using kernels::DType;

constexpr std::uint32_t kLocalBytes = 1024;

ModelJob::Body body_under_test = nullptr;
std::uint32_t workers_under_test = 1;

void run_body(void* argument, std::uint32_t index) {
  firmware::Worker worker(*static_cast<const Ev74Services*>(argument), index);
  body_under_test(worker, worker.acquire(kLocalBytes));
}

std::uint32_t run_bodies(const void*, std::uint32_t, const Ev74Services* services) {
  services->launch(services->context, workers_under_test, &run_body,
                   const_cast<Ev74Services*>(services));
  return 0;
}

std::vector<std::byte> make_packet(bool pitched) {
  namespace ops = kernels::ops::cast;
  namespace ev = kernels::ev74::cast;
  kernels::Layout layout;
  if (pitched)
    layout = kernels::Strided{{64, 2}};
  const std::array inputs{kernels::TensorSpec{{4, 16}, DType::Float32}};
  const std::array outputs{kernels::TensorSpec{{4, 16}, DType::BFloat16, layout}};
  const auto plan = ops::check_inference({inputs, outputs, {}});
  const auto encoded = ev::encode(
      std::get<ops::Plan>(plan), {ModelJob::kSource, ModelJob::kSourceBytes},
      {ModelJob::kDestination, pitched ? ModelJob::kPitchedBytes : ModelJob::kDestinationBytes});
  const auto* invocation = std::get_if<kernels::ev74::Invocation>(&encoded);
  if (invocation == nullptr)
    throw std::runtime_error(std::get<kernels::Error>(encoded).message());
  return {invocation->bytes().begin(), invocation->bytes().end()};
}

} // namespace

ModelJob::ModelJob(const model::ModelConfig& config, bool pitched)
    : source(kSourceBytes), destination(pitched ? kPitchedBytes : kDestinationBytes),
      packet(make_packet(pitched)), device(config) {
  for (std::size_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<std::byte>(i * 7 + 1);
  if (!device.map_at(kSource, source.data(), source.size(), model::RegionAccess::Read) ||
      !device.map_at(kDestination, destination.data(), destination.size(),
                     model::RegionAccess::Write))
    throw std::runtime_error("the job's regions are not mapped");
}

model::RunResult ModelJob::run(Body body, std::uint32_t workers) {
  body_under_test = body;
  workers_under_test = workers;
  return device.run_entry(&run_bodies, packet);
}

} // namespace simaai::test
