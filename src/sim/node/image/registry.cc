#include "sim/node/image/registry.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "data/glob.h"
#include "data/reader.h"
#include "data/writer.h"
#include "data/yaml.h"
#include "os/process.h"
#include "os/real_fs.h"

namespace gpuop::sim::node {
namespace {

struct File {
  std::vector<Image> images;

  template <class V>
  void Visit(V& v) {
    v("images", images, {.required = true});
  }
};

Image Shell() {
  Image image;
  image.name = "*shell:*";
  image.command = {"/bin/sh"};
  return image;
}

Image Program(std::string name) {
  Image image;
  image.name = std::move(name);
  image.program = true;
  image.user = "65532:65532";
  image.entrypoint = {"/usr/local/bin/gpu-operator"};
  return image;
}

/// Unpacks an archive and makes the image one with a folder.
Result<> Unpack(Image& image, const std::string& scratch) {
  const std::string into = scratch + "/" + std::to_string(Hash64(image.tar));
  std::error_code error;
  std::filesystem::create_directories(into, error);
  os::RealProcesses processes;
  ASSIGN(const os::Exit tar, processes.Run({.argv = {"tar", "-xf", image.tar, "-C", into}}, {}));
  if (!tar.ok()) return Fail(Code::kInvalid, "tar: " + image.tar + ": " + tar.Describe());
  image.folder = into;
  return {};
}

Result<> Prepare(Image& image, const std::string& beside, const std::string& scratch) {
  if ((image.folder.empty() ? 0 : 1) + (image.tar.empty() ? 0 : 1) + (image.program ? 1 : 0) > 1)
    return Fail(Code::kInvalid, "only one of folder, tar and program can be set");
  for (std::string* path : {&image.folder, &image.tar}) {
    if (path->empty()) continue;
    std::error_code error;
    const auto real = std::filesystem::canonical(path->starts_with('/') ? *path : beside + "/" + *path, error);
    if (error) return Fail(Code::kNotFound, *path + ": " + error.message());
    *path = real;
  }
  return image.tar.empty() ? Result<>() : Unpack(image, scratch);
}

}  // namespace

RootSpec Image::Root(const std::string& program_path, const std::vector<std::string>& names) const {
  RootSpec root{.folder = folder, .names = {}, .program = {}};
  if (program) root.names = names, root.program = program_path;
  return root;
}

std::string Image::Digest() const {
  const std::string text = data::ToJson(data::WriteValue(*this));
  std::string out = "sha256:";
  std::uint64_t hash = Hash64(text);
  for (int i = 0; i < 4; ++i) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
    out += digits;
    hash = Hash64(text, hash);
  }
  return out;
}

Registry::Registry() : images_{Program("*gpu-operator:*"), Program("*gpu-operator@*"), Shell()} {}

Result<Registry> Registry::Read(const std::string& path, const std::string& scratch) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (error) return Fail(Code::kNotFound, path + ": " + error.message());
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  ASSIGN(const std::string text, fs->Read(real));
  auto yaml = data::ParseYaml(text);
  if (!yaml) return std::unexpected(std::move(yaml).error().During(path));
  std::vector<std::string> unknown;
  auto file = data::ReadAs<File>(*yaml, &unknown);
  if (!file) return std::unexpected(std::move(file).error().During(path));
  if (!unknown.empty()) return Fail(Code::kInvalid, path + ": " + unknown.front() + ": no such field");
  Registry out;
  for (std::size_t i = 0; i < file->images.size(); ++i)
    if (auto r = Prepare(file->images[i], real.parent_path(), scratch); !r)
      return std::unexpected(std::move(r).error().During(path + ": images[" + std::to_string(i) + "]"));
  out.images_.insert(out.images_.begin(), file->images.begin(), file->images.end());
  return out;
}

Result<std::string> FullImageName(std::string_view name) {
  const bool blank = std::ranges::any_of(name, [](char c) { return c <= ' '; });
  const std::string_view repository = name.substr(0, name.find('@'));
  const std::size_t slash = repository.find('/');
  const std::string_view first = repository.substr(0, slash);
  const bool host =
      slash != std::string_view::npos && (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
  const std::string_view rest = host ? repository.substr(slash + 1) : repository;
  const bool upper = std::ranges::any_of(rest.substr(0, rest.find(':')), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (name.empty() || blank || upper || rest.empty())
    return Fail(Code::kInvalid, "couldn't parse image name " + Quote(name) + ": invalid reference format" +
                                    (upper ? ": repository name (" + std::string(rest) + ") must be lowercase" : ""));
  std::string out(name);
  if (!host) out.insert(0, slash == std::string_view::npos ? "docker.io/library/" : "docker.io/");
  const std::string_view tail = std::string_view(out).substr(out.rfind('/'));
  if (tail.find(':') == std::string_view::npos && tail.find('@') == std::string_view::npos) out += ":latest";
  return out;
}

Result<Pulled> Registry::Pull(std::string_view name, std::string_view architecture) const {
  ASSIGN(const std::string full, FullImageName(name));
  for (const Image& image : images_) {
    if (!data::MatchWildcard(image.name, full) && !data::MatchWildcard(image.name, name)) continue;
    const bool runs = image.architectures.empty() ||
                      std::ranges::find(image.architectures, architecture) != image.architectures.end();
    if (!runs && image.architectures.size() > 1)
      return Fail(Code::kNotFound,
                  "failed to pull and unpack image " + Quote(full) + ": no match for platform in manifest: not found");
    return Pulled{&image, !runs};
  }
  return Fail(Code::kNotFound,
              "failed to pull and unpack image " + Quote(full) + ": failed to resolve image: " + full + ": not found");
}

}  // namespace gpuop::sim::node
