#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "kube/types/any_object.h"
#include "operands/build/meta.h"

namespace gpuop::op {

/// Writes down, for people, what would be written to the cluster: a line for each field that differs.
class DryRunText {
 public:
  /// `live` is null, or empty, where there is no such object of ours.
  void AddObject(const operands::Object& wanted, const kube::AnyObject* live);
  void AddRemoval(const std::string& title, std::string_view how);
  /// Of an object that is not acted on.
  void AddRefusal(const std::string& title, const std::string& why);
  /// A merge patch: each label and annotation that it sets or removes.
  void AddPatch(const std::string& title, const boost::json::object& patch);
  std::string Take() && { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace gpuop::op
