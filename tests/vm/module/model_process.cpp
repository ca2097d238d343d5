// SPDX-License-Identifier: LGPL-2.1-or-later
// The device behind the test driver: takes its jobs, runs them on the device model, answers. One job at a time.
//
//   model_process [OPTIONS OF model:]     says "ready" once clients can open the device
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <variant>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <simaai/runtime/unique_fd.h>

#include "firmware/model/transport/client_space.h"
#include "firmware/model/transport/model_options.h"
#include "model_uapi.h"
#include "runtime/records.h"

namespace {

using namespace simaai;
using runtime::UniqueFd;

constexpr std::uint32_t kQueueLimit = 4;

SimaaiEv74Info describe(const model::ClientSpace& space) {
  SimaaiEv74Info info{};
  info.uapi_version = SIMAAI_EV74_UAPI_VERSION;
  info.queue_limit = kQueueLimit;
  for (const runtime::Capability& entry : space.capabilities().entries())
    info.capabilities[info.capability_count++] = {entry.operation, entry.version, entry.flags,
                                                  entry.source_dtypes, entry.destination_dtypes};
  return info;
}

runtime::Completion run(model::ClientSpace& space, const SimaaiEv74Submit& submit,
                        const std::array<UniqueFd, 2>& fds) {
  std::array<model::PortRange, 2> ports;
  for (std::size_t port = 0; port < ports.size(); ++port) {
    const SimaaiEv74Relocation& from = submit.relocations[port];
    ports[port].fd = fds[port].get();
    ports[port].packet_offset = from.packet_offset;
    ports[port].offset_bytes = from.offset_bytes;
    ports[port].length_bytes = from.length_bytes;
    ports[port].writes = from.writes == 1;
  }
  const auto packet = std::as_bytes(std::span(submit.packet)).first(submit.packet_bytes);
  const auto admitted = space.admit(submit.job, packet, ports);
  if (const auto* job = std::get_if<model::ClientSpace::Job>(&admitted))
    return space.run(*job);
  runtime::Completion refused;
  refused.outcome = runtime::JobOutcome::Refused;
  refused.detail =
      static_cast<std::uint32_t>(*std::get_if<runtime::protocol::RefusalReason>(&admitted));
  return refused;
}

int fail(const char* what) {
  std::perror(what);
  return 1;
}

} // namespace

int main(int count, char** arguments) {
  const auto options = model::parse_options(count > 1 ? arguments[1] : "");
  const auto* config = std::get_if<model::ModelConfig>(&options);
  if (config == nullptr || count > 2)
    return fail("model_process");
  const UniqueFd node(::open("/dev/simaai-ev74-model", O_RDWR | O_CLOEXEC));
  if (!node)
    return fail("/dev/simaai-ev74-model");
  const SimaaiEv74Info info = describe(model::ClientSpace(*config));
  if (::ioctl(node.get(), SIMAAI_EV74_MODEL_IOCTL_ATTACH, &info) != 0)
    return fail("attach");
  (void)std::puts("ready");
  (void)std::fflush(stdout);
  std::map<std::uint64_t, model::ClientSpace> clients;
  SimaaiEv74ModelJob job{};
  while (::read(node.get(), &job, sizeof(job)) == static_cast<ssize_t>(sizeof(job))) {
    const std::array<UniqueFd, 2> fds{UniqueFd(job.submit.relocations[0].fd),
                                      UniqueFd(job.submit.relocations[1].fd)};
    model::ClientSpace& space = clients.try_emplace(job.client, *config).first->second;
    const SimaaiEv74ModelDone done{
        job.serial, runtime::record_of<SimaaiEv74Completion>(run(space, job.submit, fds))};
    if (::write(node.get(), &done, sizeof(done)) != static_cast<ssize_t>(sizeof(done)))
      return fail("completion");
  }
  return fail("job");
}
