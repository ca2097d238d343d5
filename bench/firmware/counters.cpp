// SPDX-License-Identifier: LGPL-2.1-or-later
// What the firmware of an operation moves for the shapes of real models: exact counts on the device
// model, compared with a committed table. Not a measurement of time; cycles are an estimate.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "firmware/device_case.h"
#include "support/shape_table.h"

namespace simaai::test {
namespace {

using kernels::DType;
using kernels::Layout;
using kernels::MlaTiled;
using kernels::TensorSpec;

constexpr std::uint64_t kMaxRegressionPercent = 2;

/// One line of a table: where it comes from, then counts of which less is better.
struct Line {
  std::string key;
  std::vector<std::uint64_t> counts;
};

constexpr const char* kHeading = "# shape\tfrom\tto\tworkers\troute\tcalls in\tcalls out\tbytes "
                                 "in\tbytes out\ttyped bytes\tcycles";

const char* name_of(DType dtype) {
  switch (dtype) {
  case DType::Int8:
    return "int8";
  case DType::BFloat16:
    return "bfloat16";
  case DType::Float16:
    return "float16";
  case DType::Float32:
    return "float32";
  case DType::UInt8:
  case DType::Int32:
    break;
  }
  return "other";
}

/// An operation as this program runs it: the other side of each tensor of the shape table.
struct Subject {
  const char* name;
  Encoder encode;
  std::vector<DTypePair> dtypes;
  bool tiled_source;
  bool tiled_destination;
};

const Subject kSubjects[] = {
    {"cast",
     &encode_cast,
     {{DType::Float32, DType::BFloat16}, {DType::BFloat16, DType::Float32}},
     false,
     false},
    {"tess",
     &encode_tess,
     {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}},
     false,
     true},
    {"casttess",
     &encode_casttess,
     {{DType::Float32, DType::BFloat16}, {DType::BFloat16, DType::BFloat16}},
     false,
     true},
    {"detess",
     &encode_detess,
     {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}},
     true,
     false},
    {"detesscast",
     &encode_detesscast,
     {{DType::BFloat16, DType::BFloat16}, {DType::BFloat16, DType::Float32}},
     true,
     false},
};

/// False where the operation does not have this tensor.
bool make(const Subject& subject, const ShapeRow& row, DTypePair dtypes, Case& out) {
  const bool tiled = std::holds_alternative<MlaTiled>(row.spec.layout);
  const DType stored = subject.tiled_source ? dtypes.from : dtypes.to;
  if (subject.tiled_destination && !tiled)
    return false;
  if ((subject.tiled_source || subject.tiled_destination) && stored != row.spec.dtype)
    return false;
  out = {{row.spec.shape, dtypes.from, {}}, {row.spec.shape, dtypes.to, {}}, {}, 1};
  if (subject.tiled_source)
    out.input.layout = row.spec.layout;
  if (subject.tiled_destination) {
    out.output.layout = row.spec.layout;
    const auto& layout = std::get<MlaTiled>(row.spec.layout);
    if (dtypes.to == DType::Int8 && layout.channels == kernels::ChannelStorage::PadTo16)
      out.fill = std::int8_t{0};
  }
  return true;
}

Line count(const Subject& subject, const std::string& name, const Case& c, std::uint32_t workers) {
  DeviceCase on_device(subject.encode, c);
  model::DeviceModel device(immediate(workers));
  if (auto result = on_device.run(device); !result) {
    std::fprintf(stderr, "%s %s: %s\n", subject.name, name.c_str(), result.message());
    std::exit(1); // NOLINT(concurrency-mt-unsafe): one thread
  }
  const model::RunResult& ran = on_device.result();
  std::ostringstream key;
  key << name << '\t' << name_of(c.input.dtype) << '\t' << name_of(c.output.dtype) << '\t'
      << workers << '\t' << firmware::route_name(ran.route);
  const model::Counters& n = ran.counters;
  return {key.str(),
          {n.dma_calls_in, n.dma_calls_out, n.dma_bytes_in, n.dma_bytes_out,
           n.typed_store_bytes + n.typed_load_bytes, n.cycles}};
}

std::vector<Line> count_all(const Subject& subject) {
  std::vector<Line> lines;
  for (const ShapeRow& row : read_shape_table())
    for (const DTypePair dtypes : subject.dtypes)
      for (const std::uint32_t workers : {1U, 4U}) {
        Case c;
        if (make(subject, row, dtypes, c))
          lines.push_back(count(subject, row.name, c, workers));
      }
  return lines;
}

void print(std::ostream& out, const std::vector<Line>& lines) {
  out << kHeading << '\n';
  for (const Line& line : lines) {
    out << line.key;
    for (const std::uint64_t value : line.counts)
      out << '\t' << value;
    out << '\n';
  }
}

std::map<std::string, std::vector<std::uint64_t>> read_table(const char* path) {
  std::map<std::string, std::vector<std::uint64_t>> table;
  std::ifstream in(path);
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text[0] == '#')
      continue;
    std::size_t end = 0;
    for (int field = 0; field < 5; ++field)
      end = text.find('\t', end + (field == 0 ? 0 : 1));
    std::istringstream numbers(text.substr(end));
    std::vector<std::uint64_t> counts;
    for (std::uint64_t value = 0; numbers >> value;)
      counts.push_back(value);
    table[text.substr(0, end)] = counts;
  }
  return table;
}

/// Number of lines that are missing from the table, left over in it, or worse than it.
int compare(const std::vector<Line>& lines, const char* path) {
  auto table = read_table(path);
  int wrong = 0;
  for (const Line& line : lines) {
    const auto committed = table.find(line.key);
    if (committed == table.end() || committed->second.size() != line.counts.size()) {
      std::printf("not in the table: %s\n", line.key.c_str());
      ++wrong;
      continue;
    }
    for (std::size_t i = 0; i < line.counts.size(); ++i)
      if (line.counts[i] * 100 > committed->second[i] * (100 + kMaxRegressionPercent)) {
        std::printf("%s: count %zu was %llu, is %llu\n", line.key.c_str(), i + 1,
                    static_cast<unsigned long long>(committed->second[i]),
                    static_cast<unsigned long long>(line.counts[i]));
        ++wrong;
      }
    table.erase(committed);
  }
  for (const auto& [key, counts] : table) {
    std::printf("only in the table: %s\n", key.c_str());
    ++wrong;
  }
  std::printf("%zu lines, %d worse or missing\n", lines.size(), wrong);
  return wrong;
}

int run(int argc, char** argv) {
  const auto* subject =
      argc < 2 ? std::end(kSubjects)
               : std::find_if(std::begin(kSubjects), std::end(kSubjects),
                              [&](const Subject& s) { return std::string(s.name) == argv[1]; });
  if (subject == std::end(kSubjects)) {
    std::fprintf(stderr,
                 "usage: %s OPERATION [TABLE]\n"
                 "prints the counts of an operation, or compares them with a table\n",
                 argv[0]);
    return 2;
  }
  const std::vector<Line> lines = count_all(*subject);
  if (argc > 2)
    return compare(lines, argv[2]) == 0 ? 0 : 1;
  std::ostringstream text;
  print(text, lines);
  std::fputs(text.str().c_str(), stdout);
  return 0;
}

} // namespace
} // namespace simaai::test

int main(int argc, char** argv) { return simaai::test::run(argc, argv); }
