// SPDX-License-Identifier: LGPL-2.1-or-later
// Order of the files, caps and buffers of simaainpysrc.
#include "npy_source.h"

#include <algorithm>

#include <simaai/kernels/ops/requirement.h>

#include "common/pool_query.h"

namespace simaai::gst {

void NpySource::fail(ErrorKind kind, std::string reason) const {
  Report report;
  report.reason = std::move(reason);
  post_error(GST_ELEMENT_CAST(element_), kind, report);
}

bool NpySource::start(const NpySourceSettings& settings, GstPtr<GstCaps> forced_caps) {
  stop();
  stats_.reset();
  outputs_.start();
  settings_ = settings;
  if (std::string problem = settings.pool.problem(); !problem.empty()) {
    fail(ErrorKind::Settings, std::move(problem));
    return false;
  }
  if (settings.location.empty()) {
    fail(ErrorKind::Settings, "property location: expected the name of a .npy file, found nothing");
    return false;
  }
  auto series = FileSeries::parse(settings.location);
  if (const auto* refused = std::get_if<SeriesError>(&series)) {
    fail(ErrorKind::Settings, "property " + refused->reason);
    return false;
  }
  series_ = std::get<FileSeries>(std::move(series));
  if (settings.stop_index >= 0 && settings.stop_index < settings.start_index) {
    fail(ErrorKind::Settings, "property stop-index: expected -1 or at least start-index, " +
                                  std::to_string(settings.start_index) + ", found " +
                                  std::to_string(settings.stop_index));
    return false;
  }
  if (forced_caps != nullptr) {
    if (settings.reinterpret) {
      fail(ErrorKind::Settings, "properties caps and dtype: expected at most one of them, for caps "
                                "already say the dtype");
      return false;
    }
    auto parsed = parse_tensor(*forced_caps);
    if (const auto* refused = std::get_if<CapsError>(&parsed)) {
      fail(ErrorKind::Settings, "property caps: " + refused->reason);
      return false;
    }
    forced_ = std::get<TensorInfo>(std::move(parsed));
  }
  index_ = settings.start_index;
  return open_next() == Step::Opened;
}

void NpySource::stop() {
  file_.reset();
  caps_.reset();
  forced_.reset();
  frames_ = 0;
  outputs_.stop();
}

GstPtr<GstCaps> NpySource::caps() const {
  return GstPtr<GstCaps>(caps_ != nullptr ? gst_caps_ref(caps_.get()) : nullptr);
}

std::uint64_t NpySource::payload_bytes() const { return file_ ? file_->header().payload_bytes : 0; }

NpySource::Step NpySource::open_next() {
  const bool past_stop = settings_.stop_index >= 0 && index_ > settings_.stop_index;
  const bool past_single = !series_.numbered() && index_ > settings_.start_index;
  if (past_stop || past_single) {
    if (!settings_.loop)
      return Step::End;
    index_ = settings_.start_index;
  }
  const Step step = open_index();
  if (step != Step::End || !settings_.loop)
    return step;
  index_ = settings_.start_index;
  return open_index();
}

NpySource::Step NpySource::open_index() {
  auto opened = NpyFile::open(series_.path(index_), settings_.reinterpret);
  if (const auto* refused = std::get_if<FileError>(&opened)) {
    // The first missing file ends a series that has no stop-index, unless nothing came before it.
    if (refused->kind == ErrorKind::NotFound && series_.numbered() && settings_.stop_index < 0 &&
        index_ > settings_.start_index)
      return Step::End;
    fail(refused->kind, refused->reason);
    return Step::Failed;
  }
  auto& file = std::get<NpyFile>(opened);
  if (!describe(file))
    return Step::Failed;
  file_ = std::move(file);
  ++index_;
  return Step::Opened;
}

bool NpySource::describe(const NpyFile& file) {
  TensorInfo info;
  if (forced_) {
    if (auto refused = check_physical(file)) {
      fail(ErrorKind::Data, "file '" + file.path() + "': " + *refused);
      return false;
    }
    info = *forced_;
  } else {
    info.spec = npy_tensor_spec(file.header());
  }
  if (settings_.framerate.first > 0)
    info.framerate = settings_.framerate;
  framerate_ = info.framerate.value_or(std::pair(0, 1));
  GstPtr<GstCaps> next(to_caps(info));
  // Equal caps stay the same object, so that create() sees at a glance that nothing changed.
  if (caps_ == nullptr || !gst_caps_is_equal(caps_.get(), next.get()))
    caps_ = std::move(next);
  return true;
}

std::optional<std::string> NpySource::check_physical(const NpyFile& file) const {
  const auto need = kernels::ops::port_requirement(forced_->spec);
  if (const auto* refused = std::get_if<kernels::Error>(&need))
    return "property caps: " + refused->message();
  const auto bytes = std::get<kernels::ops::PortRequirement>(need).bytes;
  const NpyHeader& header = file.header();
  if (header.dtype != kernels::DType::UInt8 || header.shape.rank() != 1)
    return "with property caps: expected a one-dimensional |u1 array of physical bytes, found " +
           std::string(dtype_name(header.dtype)) + " of rank " +
           std::to_string(header.shape.rank());
  if (header.payload_bytes != bytes)
    return "expected " + std::to_string(bytes) + " physical bytes, as property caps says, found " +
           std::to_string(header.payload_bytes);
  return std::nullopt;
}

bool NpySource::decide_allocation(GstQuery* query) {
  const auto bytes = static_cast<guint>(std::min<std::uint64_t>(payload_bytes(), G_MAXUINT));
  if (!negotiate_pool(query, bytes, settings_.pool))
    return false;
  outputs_.remember(query);
  return true;
}

GstFlowReturn NpySource::allocate(std::uint64_t bytes, GstPtr<GstBuffer>& into) {
  if (bytes == 0) {
    into.reset(gst_buffer_new());
    return GST_FLOW_OK;
  }
  GstBuffer* buffer = nullptr;
  const GstPtr<GstBufferPool> pool(gst_base_src_get_buffer_pool(element_));
  if (pool != nullptr) {
    const GstFlowReturn flow = gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr);
    if (flow == GST_FLOW_FLUSHING)
      return flow;
    into.reset(buffer);
    if (flow == GST_FLOW_OK && gst_buffer_get_size(buffer) >= bytes) {
      gst_buffer_set_size(buffer, static_cast<gssize>(bytes));
      return flow;
    }
  }
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  gst_base_src_get_allocator(element_, &allocator, &params);
  const GstPtr<GstAllocator> owned(allocator);
  stats_.count_allocation();
  into.reset(gst_buffer_new_allocate(allocator, bytes, &params));
  return GST_FLOW_OK;
}

bool NpySource::read_into(GstBuffer* buffer) const {
  std::optional<FileError> failed;
  if (gst_buffer_n_memory(buffer) == 0) {
    failed = file_->read_payload({});
  } else {
    const MapGuard map(gst_buffer_peek_memory(buffer, 0), GST_MAP_WRITE);
    if (!map || map.size() < payload_bytes()) {
      fail(ErrorKind::Resource,
           "cannot map a buffer of " + std::to_string(payload_bytes()) + " bytes for writing");
      return false;
    }
    failed = file_->read_payload(
        {reinterpret_cast<std::byte*>(map.data()), static_cast<std::size_t>(payload_bytes())});
  }
  if (failed)
    fail(failed->kind, failed->reason);
  return !failed;
}

void NpySource::stamp(GstBuffer* buffer) {
  GST_BUFFER_OFFSET(buffer) = frames_;
  GST_BUFFER_OFFSET_END(buffer) = frames_ + 1;
  if (framerate_.first > 0) {
    const auto at = [this](std::uint64_t frame) {
      return gst_util_uint64_scale(frame, GST_SECOND * static_cast<guint64>(framerate_.second),
                                   static_cast<guint64>(framerate_.first));
    };
    GST_BUFFER_PTS(buffer) = at(frames_);
    GST_BUFFER_DURATION(buffer) = at(frames_ + 1) - at(frames_);
  }
  ++frames_;
}

GstStructure* NpySource::stats() const {
  GstStructure* stats = stats_.structure_with_conversions();
  outputs_.describe(stats);
  gst_structure_set(stats, "allocations", G_TYPE_UINT64,
                    guint64{stats_.allocations() + outputs_.allocations()}, nullptr);
  return stats;
}

GstFlowReturn NpySource::create(GstPtr<GstBuffer>& into) {
  GstClockTime working = 0; // without the wait for a buffer
  if (!file_) {
    const GstCaps* before = caps_.get();
    const GstClockTime begun = gst_util_get_timestamp();
    const Step step = open_next();
    working = gst_util_get_timestamp() - begun;
    if (step != Step::Opened)
      return step == Step::End ? GST_FLOW_EOS : GST_FLOW_ERROR;
    if (caps_.get() != before && gst_base_src_negotiate(element_) == FALSE)
      return GST_FLOW_NOT_NEGOTIATED;
  }
  GstPtr<GstBuffer> buffer;
  if (const GstFlowReturn flow = allocate(payload_bytes(), buffer); flow != GST_FLOW_OK)
    return flow;
  if (buffer == nullptr) {
    post_no_output(GST_ELEMENT_CAST(element_), payload_bytes());
    return GST_FLOW_ERROR;
  }
  const GstClockTime begun = gst_util_get_timestamp();
  if (!read_into(buffer.get()))
    return GST_FLOW_ERROR;
  if (file_->swaps())
    stats_.count_conversion();
  stats_.count_frame(file_->file_bytes(), payload_bytes(),
                     working + gst_util_get_timestamp() - begun);
  file_.reset();
  stamp(buffer.get());
  into = std::move(buffer);
  return GST_FLOW_OK;
}

} // namespace simaai::gst
