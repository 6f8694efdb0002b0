#pragma once
// Where labels go.

#include <memory>
#include <string>

#include "base/result.h"
#include "kube/client.h"
#include "operands/gfd/labels.h"
#include "os/fs.h"

namespace gpuop::operands::gfd {

/// Where the labels of a pass go.
class Output {
 public:
  virtual ~Output() = default;
  /// Makes these the node's labels of ours; writes nothing when they are so already. Whether it wrote.
  virtual Result<bool> Write(const Labels& labels) = 0;
  /// Takes back what is only to be seen while the program runs.
  virtual void Withdraw() {}
};

/// A feature file of node feature discovery: a line key=value for each, sorted. Readers see whole files only.
class FileOutput final : public Output {
 public:
  /// `keep`: the file stays when the program ends.
  FileOutput(os::Fs& fs, std::string path, bool keep) : fs_(fs), path_(std::move(path)), keep_(keep) {}
  Result<bool> Write(const Labels& labels) override;
  void Withdraw() override;

 private:
  os::Fs& fs_;
  const std::string path_;
  const bool keep_;
};

/// The same lines on standard output, at each change.
class StdoutOutput final : public Output {
 public:
  Result<bool> Write(const Labels& labels) override;

 private:
  Labels last_;
};

/// The NodeFeature object nvidia-features-for-NODE, owned by the Pod and its DaemonSet so that it goes with them.
class NodeFeatureOutput final : public Output {
 public:
  NodeFeatureOutput(kube::Client client, std::string ns, std::string node, std::string pod)
      : client_(std::move(client)), ns_(std::move(ns)), node_(std::move(node)), pod_(std::move(pod)) {}
  Result<bool> Write(const Labels& labels) override;

 private:
  Result<boost::json::array> Owners() const;

  const kube::Client client_;
  const std::string ns_, node_, pod_;
};

}  // namespace gpuop::operands::gfd
