#pragma once
// How CDI devices are called: `vendor/class=device`, and the annotations that carry such names.
// Container Device Interface specification 1.1.0, "Kind", "Device" and "Annotations".

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::container {

/// The parts of a name. `vendor` and `kind_class` are empty when the text was not of the form `vendor/class=device`;
/// `device` is then the whole text.
struct CdiName {
  std::string vendor, kind_class, device;

  std::string kind() const { return vendor + "/" + kind_class; }
  std::string text() const { return kind() + "=" + device; }
  bool operator==(const CdiName&) const = default;
};

/// Takes a name apart without judging its parts.
CdiName SplitCdiName(std::string_view text);
/// A name whose parts are all well-formed; kInvalid says which is not and why.
Result<CdiName> ParseCdiName(std::string_view text);
bool IsCdiName(std::string_view text);

/// kInvalid when the text cannot be what its name says.
Result<> CheckCdiVendor(std::string_view vendor);
Result<> CheckCdiClass(std::string_view kind_class);
Result<> CheckCdiDevice(std::string_view device);

/// What annotations that name devices begin with.
inline constexpr std::string_view kCdiAnnotationPrefix = "cdi.k8s.io/";

/// The annotation in which `plugin` asks for `device_id`: "cdi.k8s.io/PLUGIN_ID", with every "/" of the id as "_".
/// kInvalid when the two make no annotation name.
Result<std::string> CdiAnnotationKey(std::string_view plugin, std::string_view device_id);
/// Adds the annotation that asks for `devices` (qualified names). On an error nothing is added.
Result<> AddCdiAnnotation(std::map<std::string, std::string>& annotations, std::string_view plugin,
                          std::string_view device_id, const std::vector<std::string>& devices);

/// What annotations ask for.
struct CdiAnnotations {
  std::vector<std::string> keys, devices;
};
/// All devices that annotations with `prefix` name, keys in order. kInvalid names the key with an unqualified name.
Result<CdiAnnotations> ParseCdiAnnotations(const std::map<std::string, std::string>& annotations,
                                           std::string_view prefix = kCdiAnnotationPrefix);

}  // namespace gpuop::container
