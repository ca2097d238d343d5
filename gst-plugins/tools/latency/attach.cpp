// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts a program with the tracer in its environment and reads what it left.
#include "attach.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace simaai::latency {

namespace {

/// GST_TRACERS has no quoting that brackets and separators survive; blanks do.
bool is_plain(const std::string& path) {
  return path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+/. ") == std::string::npos;
}

std::string quoted(const std::string& path) {
  return path.find(' ') == std::string::npos ? path : '"' + path + '"';
}

/// Lines of cells; a cell in quotes may have line breaks.
std::vector<std::vector<std::string>> lines_of(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = lines.back().back();
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"')
      cell += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      lines.back().emplace_back();
    else if (c == '\n' && !quoted)
      lines.emplace_back(1);
    else
      cell += c;
  }
  return lines;
}

std::uint64_t number_of(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 10);
}

std::optional<Stat> stat_of(const std::vector<std::string>& cells) {
  constexpr std::array kFields{&Stat::count, &Stat::min, &Stat::mean, &Stat::p50,
                               &Stat::p90,   &Stat::p95, &Stat::p99,  &Stat::max};
  if (cells[3].empty())
    return std::nullopt;
  Stat stat;
  for (std::size_t i = 0; i < kFields.size(); ++i)
    stat.*kFields[i] = number_of(cells[3 + i]);
  stat.exact = cells.back() == "yes";
  return stat;
}

ElementReport& element_named(Report& report, const std::string& name) {
  for (ElementReport& element : report.elements) {
    if (element.name == name)
      return element;
  }
  ElementReport& element = report.elements.emplace_back();
  element.name = name;
  element.path = name;
  return element;
}

JobReport& jobs_of(ElementReport& element) {
  if (!element.jobs)
    element.jobs.emplace();
  return *element.jobs;
}

void read_path(Report& report, const std::vector<std::string>& cells) {
  const auto stat = stat_of(cells);
  if (cells[2] == "frames" && !report.paths.empty())
    report.paths.back().frames = number_of(cells[3]);
  if (cells[2] == "from_source" && !report.paths.empty())
    report.paths.back().from_source = cells[3] == "1";
  if (cells[2] != "latency" || !stat)
    return;
  // The blank before the sink, whose name may have others: pads have none.
  const std::string& both = cells[1];
  const std::size_t space = both.find(' ', std::min(both.find(':'), both.size()));
  if (space != std::string::npos)
    report.paths.push_back({both.substr(0, space), both.substr(space + 1), 0, *stat});
}

void read_element(ElementReport& element, const std::vector<std::string>& cells) {
  const std::string& metric = cells[2];
  if (metric == "residence")
    element.residence = stat_of(cells);
  else if (metric == "waiting")
    element.waiting = stat_of(cells);
  else if (metric == "thread")
    element.thread = stat_of(cells);
  else if (metric == "processing")
    element.processing = stat_of(cells);
  else if (metric == "queued")
    jobs_of(element).queued = stat_of(cells);
  else if (metric == "working")
    jobs_of(element).working = stat_of(cells);
  else if (metric == "retirement")
    jobs_of(element).retirement = stat_of(cells);
  else if (metric == "drops" && !cells[3].empty())
    element.drops = number_of(cells[3]);
}

void read_line(Watched& watched, const std::vector<std::string>& cells) {
  Report& report = watched.reports.back();
  if (cells[0] == "pipeline")
    report.pipeline = cells[1];
  else if (cells[0] == "name")
    element_named(report, cells[1]).path = cells[2];
  else if (cells[0] == "element")
    read_element(element_named(report, cells[1]), cells);
  else if (cells[0] == "path")
    read_path(report, cells);
  else if (cells[0] == "error")
    watched.errors.push_back(cells[1]);
}

volatile std::sig_atomic_t forwarded_to = 0;

void forward(int signal) {
  if (forwarded_to > 0)
    kill(forwarded_to, signal);
}

/// While the program runs it alone is ended: Ctrl-C reaches it from the terminal, other signals from here.
/// Then its report is read.
class Signals {
public:
  Signals() {
    replace(SIGINT, SIG_IGN);
    replace(SIGTERM, &forward);
    replace(SIGHUP, &forward);
  }
  ~Signals() { restore(); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  void restore() const noexcept {
    for (std::size_t i = 0; i < count_; ++i)
      sigaction(numbers_[i], &before_[i], nullptr);
  }

private:
  void replace(int number, void (*handler)(int)) noexcept {
    struct sigaction action {};
    action.sa_handler = handler;
    numbers_[count_] = number;
    sigaction(number, &action, &before_[count_++]);
  }

  std::array<int, 3> numbers_{};
  std::array<struct sigaction, 3> before_{};
  std::size_t count_ = 0;
};

int run_child(const Options& options, const std::string& tracers) {
  const Signals signals;
  const pid_t child = fork();
  if (child == 0) {
    signals.restore();
    std::signal(SIGPIPE, SIG_DFL);
    setenv("GST_TRACERS", tracers.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : options.program)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    std::perror(arguments[0]);
    _exit(127);
  }
  if (child < 0)
    return 127;
  forwarded_to = child;
  int state = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(child, &state, 0);
  } while (ended < 0 && errno == EINTR);
  forwarded_to = 0;
  if (ended < 0)
    return 127;
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

} // namespace

std::string tracer_text(const Options& options, const std::string& status,
                        const std::string& others, std::string& error) {
  std::string text = "simaailatency(warmup=" + std::to_string(options.warmup) +
                     ",samples=" + std::to_string(options.samples) + ",exact=true";
  const auto add = [&](const char* name, const std::string& path) {
    if (path.empty())
      return;
    const std::string whole = std::filesystem::absolute(path).string();
    if (!is_plain(whole))
      error = "'" + whole + "' has a character that GST_TRACERS cannot carry";
    text += std::string(",") + name + "=" + quoted(whole);
  };
  if (options.window != 0)
    text += ",window=" + std::to_string(options.window);
  if (options.spans != 0)
    text += ",spans=" + std::to_string(options.spans);
  if (!options.quiet && options.outputs.table.empty())
    text += ",table=stderr";
  add("table", options.outputs.table);
  add("json", options.outputs.json);
  add("csv", options.outputs.csv);
  add("html", options.outputs.html);
  add("trace", options.outputs.trace);
  add("status", status);
  // Of two of ours the first counts.
  return text + ")" + (others.empty() ? "" : ";" + others);
}

void read_status(const std::string& text, Watched& watched) {
  constexpr std::size_t kCells = 12;
  watched.reports.emplace_back();
  for (const std::vector<std::string>& cells : lines_of(text)) {
    if (cells.size() == kCells)
      read_line(watched, cells);
  }
}

int run_program(const Options& options, Watched& watched, std::string& error) {
  std::string folder = (std::filesystem::temp_directory_path() / "simaai-latency-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    error = "cannot write " + folder;
    return 1;
  }
  const char* others = std::getenv("GST_TRACERS");
  const std::string tracers =
      tracer_text(options, folder + "/status.csv", others != nullptr ? others : "", error);
  int status = 1;
  if (error.empty()) {
    status = run_child(options, tracers);
    for (unsigned number = 1;; ++number) {
      std::ifstream file(folder + "/status" + (number > 1 ? "-" + std::to_string(number) : "") +
                             ".csv",
                         std::ios::binary);
      if (!file)
        break;
      read_status(std::string(std::istreambuf_iterator<char>(file), {}), watched);
    }
  }
  std::filesystem::remove_all(folder);
  return status;
}

} // namespace simaai::latency
