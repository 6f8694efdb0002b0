#pragma once
// Small ELF files and loader caches for tests.

#include <elf.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace gpuop::container {

template <class T>
void AppendRaw(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A shared library that says its soname, and holds a note when `note` is given.
inline std::string ElfFile(const std::string& soname, const std::string& section = "", const std::string& owner = "",
                           const std::string& note = "") {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_phoff = sizeof header;
  header.e_phnum = 2;
  header.e_phentsize = sizeof(Elf64_Phdr);
  const std::uint64_t dynamic_at = sizeof header + 2 * sizeof(Elf64_Phdr);
  std::vector<Elf64_Dyn> dynamic(3);
  dynamic[0].d_tag = soname.empty() ? DT_DEBUG : DT_SONAME;
  dynamic[0].d_un.d_val = 1;
  dynamic[1].d_tag = DT_STRTAB;
  const std::uint64_t names_at = dynamic_at + dynamic.size() * sizeof(Elf64_Dyn);
  dynamic[1].d_un.d_ptr = 0x1000 + names_at;
  std::string names = '\0' + soname + '\0';
  names.resize((names.size() + 7U) & ~std::size_t{7});
  std::string notes;
  if (!section.empty()) {
    Elf64_Nhdr entry{.n_namesz = static_cast<Elf64_Word>(owner.size() + 1),
                     .n_descsz = static_cast<Elf64_Word>(note.size()),
                     .n_type = 1};
    AppendRaw(notes, entry);
    std::string name = owner + '\0';
    name.resize((name.size() + 3U) & ~std::size_t{3});
    notes += name + note;
    notes.resize((notes.size() + 7U) & ~std::size_t{7});
  }
  const std::uint64_t notes_at = names_at + names.size();
  std::string section_names = '\0' + section + '\0' + ".shstrtab" + '\0';
  section_names.resize((section_names.size() + 7U) & ~std::size_t{7});
  const std::uint64_t section_names_at = notes_at + notes.size();
  if (!section.empty()) {
    header.e_shoff = section_names_at + section_names.size();
    header.e_shnum = 3;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shstrndx = 2;
  }
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_vaddr = 0x1000;
  load.p_filesz = notes_at;
  Elf64_Phdr segment{};
  segment.p_type = PT_DYNAMIC;
  segment.p_offset = dynamic_at;
  segment.p_filesz = dynamic.size() * sizeof(Elf64_Dyn);
  std::string out;
  AppendRaw(out, header);
  AppendRaw(out, load);
  AppendRaw(out, segment);
  for (const Elf64_Dyn& entry : dynamic) AppendRaw(out, entry);
  out += names + notes;
  if (section.empty()) return out;
  out += section_names;
  Elf64_Shdr none{}, note_section{}, string_section{};
  note_section.sh_name = 1;
  note_section.sh_type = SHT_NOTE;
  note_section.sh_offset = notes_at;
  note_section.sh_size = notes.size();
  string_section.sh_name = static_cast<Elf64_Word>(section.size() + 2);
  string_section.sh_type = SHT_STRTAB;
  string_section.sh_offset = section_names_at;
  string_section.sh_size = section_names.size();
  for (const Elf64_Shdr& one : {none, note_section, string_section}) AppendRaw(out, one);
  return out;
}

/// An ld.so.cache in glibc's new format, optionally behind an empty one in the old.
inline std::string LdCacheFile(const std::vector<std::pair<std::string, std::string>>& libraries,
                               bool old_in_front = false, std::uint32_t flags = 0x0303) {
  std::string out = "glibc-ld.so.cache1.1", strings;
  AppendRaw(out, static_cast<std::uint32_t>(libraries.size()));
  const std::uint32_t strings_at = static_cast<std::uint32_t>(48 + libraries.size() * 24);
  out.resize(48);
  for (const auto& [name, path] : libraries) {
    AppendRaw(out, flags);
    AppendRaw(out, static_cast<std::uint32_t>(strings_at + strings.size()));
    strings += name + '\0';
    AppendRaw(out, static_cast<std::uint32_t>(strings_at + strings.size()));
    strings += path + '\0';
    out.append(12, '\0');
  }
  out += strings;
  if (!old_in_front) return out;
  std::string old("ld.so-1.7.0\0", 12);
  AppendRaw(old, std::uint32_t{0});
  return old + out;
}

}  // namespace gpuop::container
