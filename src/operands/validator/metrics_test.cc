#include "operands/validator/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/testing/source_dir.h"
#include "base/text.h"
#include "data/json.h"
#include "operands/host/machine_files_test.h"

namespace gpuop::operands::validator {
namespace {

using testing::HasSubstr;

TEST(NodeMetricsTest, NamesAndLabelsAreThoseOfTheRecord) {
  std::ifstream in(std::string(SourceDir()) + "/testdata/validator/oracle.json");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto record = data::ParseJson(text);
  ASSERT_TRUE(record);
  std::set<std::string> want;
  for (const data::Json& line : *data::GetArray(*record, "node_status_exporter_metrics"))
    if (data::AsView(line.as_string()).starts_with("# TYPE")) want.emplace(data::AsView(line.as_string()));
  os::FakeFs fs;
  const StatusFiles files(fs, "/v");
  const FakeClock clock;
  NodeMetrics metrics("bed-node", files, fs, nullptr, clock);
  std::set<std::string> got;
  const std::string served = metrics.Text();
  for (const std::string_view line : Split(served, '\n')) {
    if (line.starts_with("# TYPE")) got.emplace(line);
    if (!line.empty() && !line.starts_with("#")) EXPECT_THAT(std::string(line), HasSubstr("{node=\"bed-node\"} "));
  }
  EXPECT_EQ(got, want);
}

TEST(NodeMetricsTest, TheyFollowFilesKernelAndNode) {
  os::FakeFs own, host;
  host::PutMachine(host, 2);
  const StatusFiles files(own, "/v");
  FakeClock clock;
  NodeMetrics metrics("n1", files, own, &host, clock);
  EXPECT_THAT(metrics.Text(),
              testing::AllOf(HasSubstr("gpu_operator_node_driver_ready{node=\"n1\"} 0\n"),
                             HasSubstr("gpu_operator_node_driver_validation{node=\"n1\"} 1\n"),
                             HasSubstr("gpu_operator_node_device_plugin_devices_total{node=\"n1\"} -1\n"),
                             HasSubstr("gpu_operator_nvidia_pci_devices_total{node=\"n1\"} 2\n")));
  own.Put("/v/driver-ready", "");
  EXPECT_TRUE(host.Remove("/dev/nvidia-uvm"));
  metrics.SetDevices(2);
  clock.Advance(std::chrono::seconds(2));
  EXPECT_THAT(metrics.Text(),
              testing::AllOf(HasSubstr("gpu_operator_node_driver_ready{node=\"n1\"} 1\n"),
                             HasSubstr("gpu_operator_node_driver_validation{node=\"n1\"} 0\n"),
                             HasSubstr("gpu_operator_node_device_plugin_devices_total{node=\"n1\"} 2\n")));
}

}  // namespace
}  // namespace gpuop::operands::validator
