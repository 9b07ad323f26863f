// Which machine writes, and what its file system promises to others that write the same file.
#pragma once

#include <string>

namespace ddptrain {

/// Whether machines may write parts of one file at once on a file system with this type (statfs(2),
/// f_type). Lustre, GPFS, CephFS, OCFS2 and GFS2 keep the pages of their clients coherent. NFS
/// promises close-to-open consistency alone (nfs(5)): of two clients that write parts of one page,
/// the bytes of one may be lost. Of others nothing is known here.
bool lets_machines_share_files(unsigned long type);

/// Of the file system of a folder, or of the nearest above it that is there.
bool lets_machines_share_files(const std::string& folder);

/// The same for all processes of a machine, also in containers: its kernel caches files for all of
/// them.
std::string machine_name();

/// The same for all that see one folder on one machine. Makes the folder. Throws an Error
/// (Exit::data).
std::string place_on_machine(const std::string& folder);

}  // namespace ddptrain
