// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures a case as a whole when its first candidate is due, then reports one candidate after the
// other: Google Benchmark knows no interleaving within a group, so each benchmark has manual time
// and one iteration a round, and plays back the rounds of its candidate.
#include "harness.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "peers.h"
#include "rounds.h"

namespace simaai::bench {

namespace detail = kernels::a65::detail;

namespace {

constexpr std::size_t kQuickRounds = 7;

struct Flags {
  Extent extent = Extent::Table;
  RoundOptions rounds;
};

/// A candidate by name, before it is made. Without a peer it is ours, at `level`.
struct Plan {
  std::string name;
  const Peer* peer = nullptr;
  detail::Level level = detail::Level::Scalar;
  std::size_t offset_bytes = 0; ///< of every buffer above a multiple of 64
};

std::vector<Plan> plan_candidates(const Case& bench_case) {
  std::vector<Plan> plans;
  for (const detail::Level level : detail::supported_levels())
    plans.push_back({std::string(detail::level_name(level)), nullptr, level, 0});
  const detail::Level best = detail::active_level();
  plans.push_back({std::string(detail::level_name(best)) + "_align16", nullptr, best, 16});
  for (const Peer& peer : peers())
    if (peer.refusal(bench_case).empty())
      plans.push_back({std::string(peer.name), &peer, best, 0});
  return plans;
}

/// Throws std::runtime_error where one call does not leave the expected bytes.
void verify(const Case& bench_case, const std::string& name, Candidate& candidate, Ring& ring) {
  const BufferSet& set = ring[0];
  auto* output = static_cast<std::uint8_t*>(set.output[0].data);
  const auto* input = static_cast<const std::uint8_t*>(set.input[0].data);
  std::fill_n(output, set.output[0].capacity_bytes, std::uint8_t{0xa5});
  const Bytes before(output, output + set.output[0].capacity_bytes);
  const std::optional<Bytes> expected = candidate.expected(bench_case, input, before);
  if (!expected)
    return;
  candidate.run(ring, 0, 1);
  const auto [at, found] = std::mismatch(expected->begin(), expected->end(), output);
  if (at != expected->end())
    throw std::runtime_error(bench_case.name + ": " + name + " left " + std::to_string(*found) +
                             " at output byte " + std::to_string(at - expected->begin()) +
                             ", expected " + std::to_string(*at));
}

/// The rounds of one case.
struct Measurement {
  std::vector<std::vector<double>> ns; ///< by candidate
  double prepare_ns = 0;
};

double measure_preparation(const Operation& operation, const Case& bench_case, Ring& ring) {
  const auto candidate = operation.preparation(bench_case);
  std::vector<Entrant> entrant{{candidate.get(), &ring, {}}};
  Case hot = bench_case;
  hot.cache = Cache::Hot;
  measure_rounds(hot, {5, 5e4, 1}, entrant);
  return spread_of(entrant[0].ns).median;
}

Measurement measure(const Operation& operation, const Case& bench_case,
                    const std::vector<Plan>& plans, const RoundOptions& options) {
  Ring aligned(bench_case, 0);
  Ring shifted(bench_case, 16);
  std::vector<std::unique_ptr<Candidate>> candidates;
  std::vector<Entrant> entrants;
  for (const Plan& plan : plans) {
    Ring& ring = plan.offset_bytes == 0 ? aligned : shifted;
    candidates.push_back(plan.peer != nullptr ? plan.peer->make(bench_case)
                                              : operation.ours(bench_case, plan.level));
    candidates.back()->bind(ring);
    verify(bench_case, plan.name, *candidates.back(), ring);
    entrants.push_back({candidates.back().get(), &ring, {}});
  }
  measure_rounds(bench_case, options, entrants);
  Measurement result;
  for (Entrant& entrant : entrants)
    result.ns.push_back(std::move(entrant.ns));
  result.prepare_ns = measure_preparation(operation, bench_case, aligned);
  return result;
}

/// All candidates of one case, and their measurement once it is made.
class Group {
public:
  Group(const Operation& operation, Case bench_case, const RoundOptions& options)
      : operation_(operation), case_(std::move(bench_case)), options_(options),
        plans_(plan_candidates(case_)) {}

  [[nodiscard]] const Case& bench_case() const { return case_; }
  [[nodiscard]] const std::vector<Plan>& plans() const { return plans_; }

  /// Body of the benchmark of candidate `index`. Throws what the measurement throws.
  void report(benchmark::State& state, std::size_t index) {
    if (!failure_.empty())
      throw std::runtime_error(failure_);
    if (!measurement_ || reported_[index])
      take_measurement();
    reported_[index] = true;
    std::size_t round = 0;
    const std::vector<double>& ns = measurement_->ns[index];
    while (state.KeepRunning())
      state.SetIterationTime(ns[round++ % ns.size()] * 1e-9);
    add_counters(state.counters, index);
    if (plans_[index].peer == nullptr)
      state.SetLabel(missing_peers());
  }

private:
  void take_measurement() {
    try {
      measurement_ = measure(operation_, case_, plans_, options_);
      reported_.assign(plans_.size(), false);
    } catch (const std::exception& error) {
      failure_ = error.what();
      std::fprintf(stderr, "%s\n", failure_.c_str());
      throw;
    }
  }

  /// Peers that are not measured in this case, and why: "peer: reason; peer: reason".
  [[nodiscard]] std::string missing_peers() const {
    std::string text;
    for (const Peer& peer : peers())
      if (const std::string reason = peer.refusal(case_); !reason.empty())
        text.append(text.empty() ? "" : "; ").append(peer.name).append(": ").append(reason);
    return text;
  }

  void add_spread(benchmark::UserCounters& counters, const std::string& name,
                  const Spread& spread) const {
    counters[name] = spread.median;
    counters[name + "_min"] = spread.least;
    counters[name + "_max"] = spread.most;
  }

  void add_counters(benchmark::UserCounters& counters, std::size_t index) const {
    const std::vector<double>& ns = measurement_->ns[index];
    add_spread(counters, "ns", spread_of(ns));
    counters["read_bytes"] = static_cast<double>(case_.read_bytes);
    counters["write_bytes"] = static_cast<double>(case_.write_bytes);
    counters["channels"] = static_cast<double>(channel_count(case_));
    if (plans_[index].peer != nullptr)
      return;
    counters["prepare_ns"] = measurement_->prepare_ns;
    for (std::size_t other = 0; other < plans_.size(); ++other)
      if (other != index)
        add_spread(counters, "vs_" + plans_[other].name, ratio_of(measurement_->ns[other], ns));
  }

  const Operation& operation_;
  Case case_;
  RoundOptions options_;
  std::vector<Plan> plans_;
  std::optional<Measurement> measurement_;
  std::vector<bool> reported_;
  std::string failure_; ///< of the measurement, which is not tried again
};

std::uint64_t flag_value(const std::string& argument, std::size_t prefix) {
  std::uint64_t value = 0;
  const char* const end = argument.data() + argument.size();
  const auto parsed = std::from_chars(argument.data() + prefix, end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || value == 0)
    throw std::runtime_error("not a positive number: " + argument);
  return value;
}

/// Reads and removes our own flags.
Flags take_flags(int* argc, char** argv) {
  Flags flags;
  std::size_t rounds = 0;
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick")
      flags.extent = Extent::Quick;
    else if (argument == "--all")
      flags.extent = Extent::Full;
    else if (argument.starts_with("--rounds="))
      rounds = flag_value(argument, sizeof "--rounds=" - 1);
    else if (argument.starts_with("--round-us="))
      flags.rounds.round_ns =
          1e3 * static_cast<double>(flag_value(argument, sizeof "--round-us=" - 1));
    else if (argument.starts_with("--seed="))
      flags.rounds.seed = flag_value(argument, sizeof "--seed=" - 1);
    else
      argv[kept++] = argv[i];
  }
  *argc = kept;
  if (rounds != 0)
    flags.rounds.rounds = rounds;
  else if (flags.extent == Extent::Quick)
    flags.rounds.rounds = kQuickRounds;
  return flags;
}

void add_context(const Operation& operation, const Flags& flags) {
  benchmark::AddCustomContext("operation", std::string(operation.name));
  benchmark::AddCustomContext("level", std::string(detail::level_name(detail::active_level())));
  benchmark::AddCustomContext("last_level_cache_bytes", std::to_string(last_level_cache_bytes()));
  benchmark::AddCustomContext("rounds", std::to_string(flags.rounds.rounds));
  benchmark::AddCustomContext("round_us", std::to_string(flags.rounds.round_ns / 1e3));
}

/// Registers every candidate of `group`. A failure is counted in `failures`.
void register_group(const std::shared_ptr<Group>& group, const RoundOptions& options,
                    std::size_t* failures) {
  for (std::size_t index = 0; index < group->plans().size(); ++index) {
    const std::string name = group->bench_case().name + "/" + group->plans()[index].name;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [group, index, failures](benchmark::State& state) {
                                   try {
                                     group->report(state, index);
                                   } catch (const std::exception& error) {
                                     ++*failures;
                                     state.SkipWithError(error.what());
                                   }
                                 })
        ->UseManualTime()
        ->Iterations(static_cast<benchmark::IterationCount>(options.rounds))
        ->Unit(benchmark::kNanosecond);
  }
}

} // namespace

int run_benchmarks(int argc, char** argv, const Operation& operation) {
  try {
    const Flags flags = take_flags(&argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
      return 2;
    add_context(operation, flags);
    std::size_t failures = 0;
    for (Case& bench_case : operation.cases(flags.extent))
      register_group(std::make_shared<Group>(operation, std::move(bench_case), flags.rounds),
                     flags.rounds, &failures);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return failures == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}

} // namespace simaai::bench
