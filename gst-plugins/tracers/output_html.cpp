// SPDX-License-Identifier: LGPL-2.1-or-later
// Reports as one page that needs nothing else: no script, no network.
#include <algorithm>
#include <map>
#include <set>

#include "output.h"
#include "svg.h"

namespace simaai::latency {

namespace {

constexpr const char* kStyle = R"(
:root{--ink:#1d2430;--dim:#5a6575;--paper:#f6f7f9;--card:#fff;--line:#dde2e9;--work:#2f6db5;--wait:#d98c2b;--mark:#b3264a;--queued:#8a7bc8;--device:#2e8b57;--retirement:#9aa3ad}
@media(prefers-color-scheme:dark){:root{--ink:#e7eaf0;--dim:#a3adbb;--paper:#14181e;--card:#1d232b;--line:#343d49;--work:#74a9ea;--wait:#e8b065;--mark:#ff7d9c;--queued:#b3a6f0;--device:#6fcf97;--retirement:#77818d}}
*{box-sizing:border-box}
body{margin:0;padding:16px;background:var(--paper);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
main{max-width:1240px;margin:auto}
h1{font-size:22px;margin:4px 0}h2{font-size:16px;margin:0 0 8px}
p{margin:6px 0;color:var(--dim)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px;font-size:13px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(104px,1fr));gap:10px;margin:12px 0}
.tiles div,section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 12px;min-width:0}
.tiles b{display:block;font-size:20px;white-space:nowrap}.tiles span{color:var(--dim);font-size:13px}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:12px;margin:12px 0}
.wide{overflow-x:auto}.whole{white-space:nowrap}.notes{border-color:var(--mark)}.notes ul{margin:0;padding-left:20px}
svg{display:block;width:100%;height:auto}
.label{fill:var(--ink);font:10px system-ui,sans-serif}
.grid{stroke:var(--line);stroke-width:.7}.mark{stroke:var(--mark);stroke-width:1}
.work{fill:var(--work)}.wait{fill:var(--wait)}.queued{fill:var(--queued)}.device{fill:var(--device)}.retirement{fill:var(--retirement)}.dot{fill:var(--work)}.edge{stroke:var(--card);stroke-width:.8}
.key{display:inline-block;width:11px;height:11px;border-radius:2px;margin:0 4px 0 10px}
.key.work{background:var(--work)}.key.wait{background:var(--wait)}
.key.queued{background:var(--queued)}.key.device{background:var(--device)}.key.retirement{background:var(--retirement)}
table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:4px 8px;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child,td.text,th.text{text-align:left}
)";

/// One frame that arrived.
struct Arrival {
  std::uint64_t id = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  [[nodiscard]] std::uint64_t latency() const { return end_ns - begin_ns; }
};

/// Arrivals at the sink that got the most frames, in the order of time.
std::vector<Arrival> main_arrivals(const Report& report) {
  std::map<std::uint32_t, std::vector<Arrival>> by_pad;
  for (const Span& span : report.spans) {
    if (span.kind == SpanKind::Arrival)
      by_pad[span.pad].push_back({span.id, span.begin_ns, span.end_ns});
  }
  std::vector<Arrival> most;
  for (auto& [pad, arrivals] : by_pad) {
    if (arrivals.size() > most.size())
      most = std::move(arrivals);
  }
  return most;
}

std::optional<Part> job_part(SpanKind kind) {
  if (kind == SpanKind::JobQueued)
    return Part::Queued;
  if (kind == SpanKind::JobDevice)
    return Part::Device;
  if (kind == SpanKind::JobRetirement)
    return Part::Retirement;
  return std::nullopt;
}

std::vector<Stay> stays_of(const Report& report, const Arrival& arrival) {
  std::map<std::uint64_t, std::uint64_t> parents;
  for (const Span& span : report.spans) {
    if (span.parent != 0)
      parents.emplace(span.id, span.parent);
  }
  std::set<std::uint64_t> ids;
  for (std::uint64_t id = arrival.id; id != 0 && ids.insert(id).second;) {
    const auto parent = parents.find(id);
    id = parent != parents.end() ? parent->second : 0;
  }
  std::vector<Stay> stays;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> keys; // pad and frame of each
  for (const Span& span : report.spans) {
    if (span.kind != SpanKind::Residence || ids.count(span.id) == 0 ||
        span.end_ns > arrival.end_ns || span.begin_ns < arrival.begin_ns)
      continue;
    stays.push_back({report.pads[span.pad].element,
                     static_cast<double>(span.begin_ns - arrival.begin_ns),
                     static_cast<double>(span.end_ns - arrival.begin_ns),
                     static_cast<double>(span.part_ns),
                     {}});
    keys.emplace_back(span.pad, span.id);
  }
  for (const Span& span : report.spans) {
    const auto part = job_part(span.kind);
    const auto key = std::find(keys.begin(), keys.end(), std::pair(span.pad, span.id));
    if (part && key != keys.end() && span.begin_ns >= arrival.begin_ns)
      stays[static_cast<std::size_t>(key - keys.begin())].jobs.push_back(
          {*part, static_cast<double>(span.begin_ns - arrival.begin_ns),
           static_cast<double>(span.end_ns - arrival.begin_ns)});
  }
  return stays;
}

/// Bars as long as the median residence. Medians of parts do not add up to it, but means do: they part the bar.
std::vector<Stage> stages_of(const Report& report) {
  std::vector<Stage> stages;
  for (const ElementReport& element : report.elements) {
    if (!element.residence || !element.waiting || !element.thread)
      continue;
    Stage stage{element.name, {}};
    const auto mean = [&](Part part, const std::optional<Stat>& stat) {
      stage.ns[static_cast<std::size_t>(part)] = stat ? static_cast<double>(stat->mean) : 0;
    };
    mean(Part::Thread, element.thread);
    mean(Part::Waiting, element.waiting);
    if (element.jobs) {
      mean(Part::Device, element.jobs->working);
      mean(Part::Queued, element.jobs->queued);
      mean(Part::Retirement, element.jobs->retirement);
    }
    const double scale = static_cast<double>(element.residence->p50) / std::max(stage.sum(), 1.0);
    for (double& ns : stage.ns)
      ns *= scale;
    stages.push_back(std::move(stage));
  }
  return stages;
}

std::string tile(const std::string& value, const std::string& name) {
  return "<div><b>" + escaped(value) + "</b><span>" + escaped(name) + "</span></div>";
}

std::string figure(const std::string& title, const std::string& note, const std::string& svg) {
  return "<section><h2>" + escaped(title) + "</h2>" + svg + "<p>" + note + "</p></section>\n";
}

std::string cell(const std::optional<Stat>& stat, std::uint64_t Stat::*field) {
  return "<td>" + (stat ? duration_text(static_cast<double>((*stat).*field)) : "n/a") + "</td>";
}

std::string job_table(const Report& report) {
  std::string rows;
  for (const ElementReport& element : report.elements) {
    if (!element.jobs)
      continue;
    const JobReport& jobs = *element.jobs;
    rows += "<tr><td>" + escaped(element.name) + "</td><td class=\"text\">" + escaped(jobs.device) +
            "</td>" + cell(jobs.queued, &Stat::p50) + cell(jobs.queued, &Stat::p99) +
            cell(jobs.working, &Stat::p50) + cell(jobs.working, &Stat::p99) +
            cell(jobs.retirement, &Stat::p50) + cell(jobs.retirement, &Stat::p99) + "</tr>";
  }
  if (rows.empty())
    return {};
  return "<section class=\"wide\"><h2>Jobs</h2><table><tr><th>element</th>"
         "<th class=\"text\">device</th><th>before it p50</th><th>p99</th><th>on it p50</th>"
         "<th>p99</th><th>until retired p50</th><th>p99</th></tr>" +
         rows + "</table></section>\n";
}

std::string element_table(const Report& report) {
  std::string html = "<section class=\"wide\"><h2>Elements</h2><table><tr><th>element</th>"
                     "<th class=\"text\">identity</th><th>in</th><th>out</th><th>residence p50</th>"
                     "<th>p95</th><th>p99</th><th>max</th><th>thread p50</th><th>waiting p50</th>"
                     "<th>processing p50</th><th>drops</th></tr>";
  for (const ElementReport& element : report.elements) {
    html += "<tr><td>" + escaped(element.name) + "</td><td class=\"text\">" +
            escaped(element.identity) + "</td><td>" + std::to_string(element.entered) +
            "</td><td>" + std::to_string(element.left) + "</td>";
    for (const auto field : {&Stat::p50, &Stat::p95, &Stat::p99, &Stat::max})
      html += cell(element.residence, field);
    html += cell(element.thread, &Stat::p50) + cell(element.waiting, &Stat::p50) +
            cell(element.processing, &Stat::p50) + "<td>" +
            (element.drops ? std::to_string(*element.drops) : "n/a") + "</td></tr>";
  }
  html += "</table></section>\n" + job_table(report);
  html +=
      "<section class=\"wide\"><h2>Source to sink</h2><table><tr><th>from</th>"
      "<th "
      "class=\"text\">to</th><th>frames</th><th>buffers</th><th>p50</th><th>p95</th><th>p99</th>"
      "<th>max</th></tr>";
  for (const PathReport& path : report.paths) {
    html += "<tr><td>" + escaped(path.origin) + "</td><td class=\"text\">" + escaped(path.sink) +
            "</td><td>" + std::to_string(path.frames) + "</td><td>" +
            std::to_string(path.latency.count) + "</td>";
    for (const auto field : {&Stat::p50, &Stat::p95, &Stat::p99, &Stat::max})
      html += cell(path.latency, field);
    html += "</tr>";
  }
  return html + "</table></section>\n";
}

/// Meaning of the colours that the report has.
std::string key_of(const Report& report) {
  const bool has_jobs =
      std::any_of(report.elements.begin(), report.elements.end(),
                  [](const ElementReport& element) { return element.jobs.has_value(); });
  std::string key;
  for (std::size_t i = 0; i < kParts; ++i) {
    const Part part = static_cast<Part>(i);
    if (has_jobs || part == Part::Thread || part == Part::Waiting)
      key += " <span class=\"whole\"><span class=\"key " + std::string(style_of(part)) +
             "\"></span>" + words_of(part) + "</span>";
  }
  return key;
}

std::string arrival_figures(const Report& report, const std::vector<Arrival>& arrivals) {
  std::vector<Point> points;
  std::vector<std::uint64_t> sorted;
  for (const Arrival& arrival : arrivals) {
    points.push_back({static_cast<double>(arrival.end_ns - arrivals.front().end_ns),
                      static_cast<double>(arrival.latency())});
    sorted.push_back(arrival.latency());
  }
  const Stat stat = exact_stat(sorted);
  std::vector<Arrival> ranked = arrivals;
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Arrival& a, const Arrival& b) { return a.latency() < b.latency(); });
  const Arrival& median = ranked[(ranked.size() - 1) / 2];
  const Arrival& worst = ranked.back();
  const auto ns = [](std::uint64_t value) { return static_cast<double>(value); };
  std::string html;
  html += figure("Latency over time", "Each dot is a frame at its sink; the line is the median.",
                 time_figure(points, ns(stat.p50)));
  html +=
      figure("Histogram", "Frames by source-to-sink latency.",
             histogram_figure(
                 sorted, {{"p50", ns(stat.p50)}, {"p95", ns(stat.p95)}, {"p99", ns(stat.p99)}}));
  const std::string key = key_of(report);
  html += figure("A median frame", duration_text(ns(median.latency())) + " in all." + key,
                 waterfall_figure(stays_of(report, median), ns(median.latency())));
  html += figure("The slowest frame", duration_text(ns(worst.latency())) + " in all." + key,
                 waterfall_figure(stays_of(report, worst), ns(worst.latency())));
  return html;
}

std::string tiles(const Report& report) {
  const PathReport* main = nullptr;
  for (const PathReport* path : total_paths(report)) {
    if (main == nullptr || path->latency.count > main->latency.count)
      main = path;
  }
  std::uint64_t drops = 0;
  bool known = false;
  for (const ElementReport& element : report.elements) {
    drops += element.drops.value_or(0);
    known = known || element.drops.has_value();
  }
  std::string html = "<div class=\"tiles\">";
  if (main != nullptr) {
    const auto ns = [](std::uint64_t value) { return duration_text(static_cast<double>(value)); };
    html += tile(ns(main->latency.p50), "p50 source to sink");
    html += tile(ns(main->latency.p95), "p95");
    html += tile(ns(main->latency.p99), "p99");
    html += tile(ns(main->latency.max), "slowest");
    html += tile(std::to_string(main->frames), "frames");
  } else if (!report.paths.empty()) {
    html += tile("n/a", "source to sink");
  }
  html += tile(known ? std::to_string(drops) : "n/a", "drops");
  return html + "</div>\n";
}

std::string note_list(const Report& report) {
  std::string items;
  for (const std::string& note : report.notes)
    items += "<li>" + escaped(note) + "</li>";
  return items.empty()
             ? items
             : "<section class=\"notes\"><h2>Not seen</h2><ul>" + items + "</ul></section>\n";
}

std::string environment_list(const Report& report) {
  std::string html = "<section><h2>Environment</h2><table>";
  for (const auto& [name, value] : report.environment)
    html += "<tr><td>" + escaped(name) + "</td><td class=\"text\" style=\"white-space:normal\">" +
            escaped(value) + "</td></tr>";
  html += "<tr><td>warm-up, samples</td><td class=\"text\">" +
          std::to_string(report.settings.warmup) + ", " +
          (report.settings.samples != 0 ? std::to_string(report.settings.samples) : "all") +
          "</td></tr>";
  return html + "</table></section>\n";
}

} // namespace

std::string html_text(const Report& report) {
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                     "<meta name=\"color-scheme\" content=\"light dark\">"
                     "<link rel=\"icon\" href=\"data:,\">\n<title>Latency of " +
                     escaped(report.pipeline) + "</title>\n<style>" + kStyle +
                     "</style></head>\n<body><main>\n<h1>Latency of " + escaped(report.pipeline) +
                     "</h1>\n";
  if (!report.text.empty())
    html += "<pre>" + escaped(report.text) + "</pre>\n";
  html += note_list(report) + tiles(report);
  html += "<div class=\"figures\">\n";
  const std::vector<Stage> stages = stages_of(report);
  html += figure("Stages",
                 "Median residence of each element, parted as the mean is:" + key_of(report) +
                     ". The bar at the top has them one after the other.",
                 stacked_figure(stages) + stages_figure(stages));
  const std::vector<Arrival> arrivals = main_arrivals(report);
  if (arrivals.empty())
    html += figure("Frames", "No samples were kept, or no frame reached a sink.", "");
  else
    html += arrival_figures(report, arrivals);
  html += "</div>\n<div class=\"figures\" style=\"grid-template-columns:minmax(0,1fr)\">\n";
  html += element_table(report) + environment_list(report);
  return html + "</div>\n</main></body></html>\n";
}

} // namespace simaai::latency
