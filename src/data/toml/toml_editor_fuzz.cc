#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "data/toml_editor.h"

/// An edit either fails and changes nothing, or means exactly what was asked.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuop::data;
  auto editor = TomlEditor::Open(std::string(reinterpret_cast<const char*>(data), size));
  if (!editor) return 0;
  const std::string before = editor->text();
  const TomlPath path = {"plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", "nvidia"};
  if (editor->Set(path, JsonObject{{"a", 1}, {"options", JsonObject{{"B", "/x"}}}})) {
    GPUOP_CHECK(FindToml(editor->value(), path) != nullptr);
    GPUOP_CHECK(editor->Remove(path) && FindToml(editor->value(), path) == nullptr);
  } else {
    GPUOP_CHECK(editor->text() == before);
  }
  (void)editor->Set({"version"}, Json(2)).has_value();
  return 0;
}
