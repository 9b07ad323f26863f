// The hosts of a job, as the launchers of clusters write them.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// A Slurm node list as `scontrol show hostnames` expands it: "rack[1-2]node[01-02],login1" gives
/// rack1node01, rack1node02, rack2node01, rack2node02, login1. Numbers keep their zeros. An Error
/// (Exit::recipe) where it cannot be read, or names more than 65,536 hosts.
std::vector<std::string> slurm_hosts(const std::string& nodes);

/// Tasks on a node by Slurm's short form: in "4(x2),3" nodes 0 and 1 have 4, node 2 has 3; 0 where
/// the list ends before.
int tasks_on_node(const std::string& tasks_per_node, int node);

/// Hosts in their order, each once, of names between spaces, commas, semicolons or line breaks;
/// numbers (slots, as in "hostA 4 hostB 4") are none.
std::vector<std::string> hosts_in_list(const std::string& names);

/// The first words of a file's lines in their order, each once, without comments (#); none where
/// the file cannot be read.
std::vector<std::string> hosts_in_file(const std::string& path);

}  // namespace ddptrain
