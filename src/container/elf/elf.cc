#include "container/elf/elf.h"

#include <elf.h>

#include <cstring>
#include <vector>

namespace gpuop::container {
namespace {

constexpr std::size_t kMostHeaders = 4096;
constexpr std::size_t kLongestName = 4096;
constexpr std::size_t kLongestNotes = 1U << 20U;

template <class T>
Result<T> ReadAt(const PartReader& read, std::uint64_t offset) {
  ASSIGN(const std::string bytes, read(offset, sizeof(T)));
  if (bytes.size() != sizeof(T)) return Fail(Code::kInvalid, "the ELF file is cut short");
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <class T>
Result<std::vector<T>> ReadTable(const PartReader& read, std::uint64_t offset, std::size_t count, std::size_t entry) {
  if (count > kMostHeaders || (count > 0 && entry != sizeof(T)))
    return Fail(Code::kInvalid, "a table has the wrong size");
  ASSIGN(const std::string bytes, read(offset, count * sizeof(T)));
  if (bytes.size() != count * sizeof(T)) return Fail(Code::kInvalid, "the ELF file is cut short");
  std::vector<T> out(count);
  if (count > 0) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

Result<std::string> ReadText(const PartReader& read, std::uint64_t offset) {
  ASSIGN(std::string bytes, read(offset, kLongestName));
  const std::size_t end = bytes.find('\0');
  if (end == std::string::npos) return Fail(Code::kInvalid, "a name does not end");
  bytes.resize(end);
  return bytes;
}

Result<Elf64_Ehdr> ReadHeader(const PartReader& read) {
  ASSIGN(const auto header, ReadAt<Elf64_Ehdr>(read, 0));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Fail(Code::kInvalid, "not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Fail(Code::kInvalid, "not a 64-bit little-endian ELF file");
  return header;
}

/// Where a virtual address is in the file.
std::optional<std::uint64_t> FileOffset(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

std::size_t Aligned(std::size_t size) { return (size + 3U) & ~std::size_t{3}; }

std::optional<std::string> FindNote(std::string_view notes, std::string_view owner) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data(), sizeof header);
    notes.remove_prefix(sizeof header);
    const std::size_t name = Aligned(header.n_namesz), description = Aligned(header.n_descsz);
    if (name > notes.size() || header.n_descsz > notes.size() - name) return std::nullopt;
    std::string_view text = notes.substr(0, header.n_namesz);
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    if (text == owner) return std::string(notes.substr(name, header.n_descsz));
    notes.remove_prefix(std::min(notes.size(), name + description));
  }
  return std::nullopt;
}

}  // namespace

PartReader PartsOf(const os::Fs& fs, const std::string& path) {
  // The header and the tables of segments lie at the beginning, which is read once.
  constexpr std::size_t kBeginning = 4096;
  return [&fs, path, beginning = std::optional<std::string>()](std::uint64_t offset,
                                                               std::size_t size) mutable -> Result<std::string> {
    if (size > kBeginning || offset > kBeginning - size) return fs.ReadPart(path, offset, size);
    if (!beginning) {
      ASSIGN(beginning, fs.ReadPart(path, 0, kBeginning));
    }
    return offset < beginning->size() ? beginning->substr(offset, size) : std::string();
  };
}

PartReader PartsOf(std::string_view bytes) {
  return [bytes](std::uint64_t offset, std::size_t size) -> Result<std::string> {
    return offset < bytes.size() ? std::string(bytes.substr(offset, size)) : std::string();
  };
}

Result<std::string> ElfSoname(const PartReader& read) {
  ASSIGN(const Elf64_Ehdr header, ReadHeader(read));
  ASSIGN(const auto segments, ReadTable<Elf64_Phdr>(read, header.e_phoff, header.e_phnum, header.e_phentsize));
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    ASSIGN(const auto entries,
           ReadTable<Elf64_Dyn>(read, segment.p_offset, segment.p_filesz / sizeof(Elf64_Dyn), sizeof(Elf64_Dyn)));
    std::optional<std::uint64_t> name, table;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_SONAME) name = entry.d_un.d_val;
      if (entry.d_tag == DT_STRTAB) table = FileOffset(segments, entry.d_un.d_ptr);
    }
    if (!name) return std::string();
    if (!table) return Fail(Code::kInvalid, "the ELF file has no table of names");
    return ReadText(read, *table + *name);
  }
  return std::string();
}

Result<std::optional<std::string>> ElfNote(const PartReader& read, std::string_view section, std::string_view owner) {
  ASSIGN(const Elf64_Ehdr header, ReadHeader(read));
  ASSIGN(const auto sections, ReadTable<Elf64_Shdr>(read, header.e_shoff, header.e_shnum, header.e_shentsize));
  if (header.e_shstrndx >= sections.size()) return std::nullopt;
  const std::uint64_t names = sections[header.e_shstrndx].sh_offset;
  for (const Elf64_Shdr& candidate : sections) {
    if (candidate.sh_type != SHT_NOTE) continue;
    ASSIGN(const std::string name, ReadText(read, names + candidate.sh_name));
    if (name != section || candidate.sh_size > kLongestNotes) continue;
    ASSIGN(const std::string notes, read(candidate.sh_offset, candidate.sh_size));
    if (auto found = FindNote(notes, owner)) return found;
  }
  return std::nullopt;
}

}  // namespace gpuop::container
