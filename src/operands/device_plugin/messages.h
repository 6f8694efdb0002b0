#pragma once
// The device plugin API's messages, made of and turned into what this room works with.

#include <string>
#include <vector>

#include "base/result.h"
#include "operands/device_plugin/answer.h"
#include "operands/device_plugin/preferred.h"
#include "operands/device_plugin/roster.h"

namespace gpuop::operands::device_plugin {

std::string EncodeOptions();
std::string EncodeRegistration(const std::string& resource, const std::string& socket_name);
/// ListAndWatchResponse.
std::string EncodeList(const ResourceState& state);

/// The ids that each container asks for.
Result<std::vector<std::vector<std::string>>> DecodeAllocate(const std::string& bytes);
std::string EncodeAllocate(const std::vector<Answer>& answers);

Result<std::vector<PreferredRequest>> DecodePreferred(const std::string& bytes);
std::string EncodePreferred(const std::vector<std::vector<std::string>>& choices);

}  // namespace gpuop::operands::device_plugin
