// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts a program with the tracer in its environment and reads what it left.
#include "attach.h"

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

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      cells.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
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
  report.elements.emplace_back().name = name;
  return report.elements.back();
}

JobReport& jobs_of(ElementReport& element) {
  if (!element.jobs)
    element.jobs.emplace();
  return *element.jobs;
}

void read_line(Report& report, const std::vector<std::string>& cells) {
  if (cells[0] == "path") {
    const std::size_t space = cells[1].find(' ');
    const auto stat = stat_of(cells);
    if (stat && space != std::string::npos)
      report.paths.push_back({cells[1].substr(0, space), cells[1].substr(space + 1), *stat});
    return;
  }
  if (cells[0] != "element")
    return;
  ElementReport& element = element_named(report, cells[1]);
  if (cells[2] == "residence")
    element.residence = stat_of(cells);
  else if (cells[2] == "waiting")
    element.waiting = stat_of(cells);
  else if (cells[2] == "processing")
    element.processing = stat_of(cells);
  else if (cells[2] == "queued")
    jobs_of(element).queued = stat_of(cells);
  else if (cells[2] == "working")
    jobs_of(element).working = stat_of(cells);
  else if (cells[2] == "retirement")
    jobs_of(element).retirement = stat_of(cells);
  else if (cells[2] == "drops" && !cells[3].empty())
    element.drops = number_of(cells[3]);
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

std::string tracer_text(const Options& options, const std::string& csv, std::string& error) {
  std::string text = "simaailatency(warmup=" + std::to_string(options.warmup) +
                     ",samples=" + std::to_string(options.samples) +
                     ",exact=true,csv=" + quoted(csv);
  const auto add = [&](const char* name, const std::string& path) {
    if (path.empty())
      return;
    const std::string whole = std::filesystem::absolute(path).string();
    if (!is_plain(whole))
      error = "'" + whole + "' has a character that GST_TRACERS cannot carry";
    text += std::string(",") + name + "=" + quoted(whole);
  };
  if (!options.quiet && options.outputs.table.empty())
    text += ",table=stderr";
  add("table", options.outputs.table);
  add("json", options.outputs.json);
  add("html", options.outputs.html);
  add("trace", options.outputs.trace);
  if (!is_plain(csv))
    error = "'" + csv + "' has a character that GST_TRACERS cannot carry";
  return text + ")";
}

Report read_csv(const std::string& text) {
  constexpr std::size_t kCells = 12;
  Report report;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() == kCells)
      read_line(report, cells);
  }
  return report;
}

int run_program(const Options& options, Report& report, std::string& error) {
  std::string own = (std::filesystem::temp_directory_path() / "simaai-latency-XXXXXX").string();
  const bool given = !options.outputs.csv.empty();
  // A folder: the second pipeline of the program and further ones have files beside the first.
  if (!given && mkdtemp(own.data()) == nullptr) {
    error = "cannot write " + own;
    return 1;
  }
  const std::string csv =
      given ? std::filesystem::absolute(options.outputs.csv).string() : own + "/report.csv";
  const std::string tracers = tracer_text(options, csv, error);
  int status = 1;
  if (error.empty()) {
    if (given)
      std::filesystem::remove(csv);
    status = run_child(options, tracers);
    std::ifstream file(csv, std::ios::binary);
    report = read_csv(std::string(std::istreambuf_iterator<char>(file), {}));
    if (!given && !options.checks.empty() && std::filesystem::exists(own + "/report-2.csv"))
      std::fputs("simaai-latency: several pipelines stopped; the conditions are about the first\n",
                 stderr);
  }
  if (!given)
    std::filesystem::remove_all(own);
  return status;
}

} // namespace simaai::latency
