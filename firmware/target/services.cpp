// SPDX-License-Identifier: LGPL-2.1-or-later
// Bodies of the services for hardware: narrowing to the queue's fields, volatile scalar accesses.
#include "firmware/target/services.h"

#include "firmware/common/dma.h"
#include "firmware/common/local_access.h"
#include "firmware/target/platform.h"

namespace simaai::firmware::target {
namespace {

std::uint32_t address_of(const void* pointer) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

/// What does not fit the queue's fields is refused, never cut off.
bool fits(const Ev74Transfer& t) noexcept {
  if (t.rows == 0 || t.rows > kMaxRows || t.row_bytes == 0)
    return false;
  return t.rows == 1 || (t.device_pitch <= kMaxPitchBytes && t.local_pitch <= kMaxPitchBytes);
}

Ev74Ticket submit(std::uint32_t worker, const Ev74Transfer& t, bool to_device,
                  Ev74Ticket after) noexcept {
  if (!fits(t))
    return 0;
  const bool pitched = t.rows > 1;
  const Ev74PlatformTransfer queued{t.device,
                                    address_of(t.local),
                                    t.row_bytes,
                                    static_cast<std::uint16_t>(t.rows),
                                    static_cast<std::uint16_t>(pitched ? t.device_pitch : 0),
                                    static_cast<std::uint16_t>(pitched ? t.local_pitch : 0),
                                    static_cast<std::uint16_t>(to_device ? 1 : 0)};
  return ev74_platform_submit(worker, &queued, after);
}

Ev74Ticket dma_read(void*, std::uint32_t worker, const Ev74Transfer* transfer, Ev74Ticket after) {
  return submit(worker, *transfer, false, after);
}

Ev74Ticket dma_write(void*, std::uint32_t worker, const Ev74Transfer* transfer, Ev74Ticket after) {
  return submit(worker, *transfer, true, after);
}

void wait(void*, std::uint32_t worker, Ev74Ticket ticket) { ev74_platform_wait(worker, ticket); }

void launch(void*, std::uint32_t workers, void (*body)(void*, std::uint32_t), void* argument) {
  ev74_platform_run(workers, body, argument);
}

void* acquire_local(void*, std::uint32_t worker, std::uint32_t bytes) {
  return bytes <= ev74_platform_local_bytes() ? ev74_platform_local(worker) : nullptr;
}

template <class Scalar> volatile Scalar* at(std::uint32_t device) noexcept {
  return reinterpret_cast<volatile Scalar*>(static_cast<std::uintptr_t>(device));
}

template <class Scalar>
void load_all(std::uint32_t device, std::uint32_t stride, std::byte* values,
              std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i)
    store_local<Scalar>(values + i * sizeof(Scalar), *at<Scalar>(device + i * stride));
}

template <class Scalar>
void store_all(std::uint32_t device, std::uint32_t stride, const std::byte* values,
               std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i)
    *at<Scalar>(device + i * stride) = load_local<Scalar>(values + i * sizeof(Scalar));
}

void load(void*, std::uint32_t, std::uint32_t device, std::uint32_t stride, void* values,
          std::uint32_t count, std::uint32_t width) {
  auto* const to = static_cast<std::byte*>(values);
  if (width == 4)
    load_all<std::uint32_t>(device, stride, to, count);
  else if (width == 2)
    load_all<std::uint16_t>(device, stride, to, count);
  else
    load_all<std::uint8_t>(device, stride, to, count);
}

void store(void*, std::uint32_t, std::uint32_t device, std::uint32_t stride, const void* values,
           std::uint32_t count, std::uint32_t width) {
  const auto* const from = static_cast<const std::byte*>(values);
  if (width == 4)
    store_all<std::uint32_t>(device, stride, from, count);
  else if (width == 2)
    store_all<std::uint16_t>(device, stride, from, count);
  else
    store_all<std::uint8_t>(device, stride, from, count);
}

} // namespace

Ev74Services platform_services() noexcept {
  Ev74Services services{};
  services.workers = ev74_platform_workers();
  services.local_bytes = ev74_platform_local_bytes();
  services.launch = &launch;
  services.acquire_local = &acquire_local;
  services.dma_read = &dma_read;
  services.dma_write = &dma_write;
  services.wait = &wait;
  services.load = &load;
  services.store = &store;
  return services;
}

} // namespace simaai::firmware::target
