#include "base/metrics.h"

#include <gtest/gtest.h>

namespace gpuop {
namespace {

TEST(Metrics, TheTextIsWhatPrometheusReads) {
  MetricRegistry registry;
  registry.counter("requests_total", "Requests\nby code.", {{"code", "200"}, {"path", "a\"b\\c\nd"}}).Add(2);
  registry.gauge("depth", "Waiting.").Set(-0.5);
  Histogram& h = registry.histogram("wait_seconds", "Wait.", {0.1, 1});
  h.Observe(0.1);
  h.Observe(0.5);
  h.Observe(7);
  EXPECT_EQ(registry.Text(),
            "# HELP depth Waiting.\n# TYPE depth gauge\ndepth -0.5\n"
            "# HELP requests_total Requests\\nby code.\n# TYPE requests_total counter\n"
            "requests_total{code=\"200\",path=\"a\\\"b\\\\c\\nd\"} 2\n"
            "# HELP wait_seconds Wait.\n# TYPE wait_seconds histogram\n"
            "wait_seconds_bucket{le=\"0.1\"} 1\nwait_seconds_bucket{le=\"1\"} 2\nwait_seconds_bucket{le=\"+Inf\"} 3\n"
            "wait_seconds_sum 7.6\nwait_seconds_count 3\n");
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameMetric) {
  MetricRegistry registry;
  registry.counter("a", "", {{"x", "1"}}).Add();
  registry.counter("a", "", {{"x", "1"}}).Add();
  EXPECT_EQ(registry.counter("a", "", {{"x", "1"}}).value(), 2);
  EXPECT_EQ(registry.counter("a", "", {{"x", "2"}}).value(), 0);
  EXPECT_DEATH(registry.gauge("a", ""), "kind");
  EXPECT_DEATH(registry.gauge("no-dash", ""), "IsName");
}

TEST(Metrics, LargeCountsKeepEveryDigit) {
  MetricRegistry registry;
  registry.counter("bytes_total", "").Add(12345678901234);
  EXPECT_NE(registry.Text().find("bytes_total 12345678901234\n"), std::string::npos) << registry.Text();
}

}  // namespace
}  // namespace gpuop
