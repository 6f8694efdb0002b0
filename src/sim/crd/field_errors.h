#pragma once

#include <vector>

#include "data/field_error.h"
#include "sim/status.h"

namespace gpuop::sim {

/// The same error in the server's form.
FieldError FromData(const data::FieldError& error);
std::vector<FieldError> FromData(const std::vector<data::FieldError>& errors);

}  // namespace gpuop::sim
