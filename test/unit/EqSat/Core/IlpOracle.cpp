//===- IlpOracle.cpp - The cheapest choice, by integer programming --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The integer program has a variable n_i for each node, which is 1 if it is
// chosen. The roots and the children of chosen nodes must be computed; a class
// has at most one chosen node. Within a strongly connected component, a level
// variable l_c for each class excludes cycles: a node's class is above those of
// its children.
//
//===----------------------------------------------------------------------===//

#include "IlpOracle.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace luminal::eqsat;
using namespace luminal::eqsat::test;

namespace {

struct Node {
  ClassId cls;
  std::vector<ClassId> children;
  double cost;
};

struct Problem {
  std::vector<Node> nodes;
  std::vector<std::vector<unsigned>> ofClass;
  std::vector<ClassId> roots;
  /// Strongly connected components, by class.
  std::vector<unsigned> component, sizeOfComponent;

  Problem(const EGraph &graph, std::span<const ClassId> given,
          const NodeCostFn &cost);
  std::string text() const;
  std::optional<double> priceOf(const std::vector<bool> &chosen) const;

private:
  void findComponents();
};

Problem::Problem(const EGraph &graph, std::span<const ClassId> given,
                 const NodeCostFn &cost)
    : ofClass(graph.numClassIds()) {
  std::vector<bool> seen(graph.numClassIds());
  std::vector<ClassId> stack;
  auto reach = [&](ClassId c) {
    if (!seen[c])
      stack.push_back(c);
    seen[c] = true;
  };
  for (ClassId root : given) {
    roots.push_back(graph.find(root));
    reach(roots.back());
  }
  while (!stack.empty()) {
    ClassId c = stack.back();
    stack.pop_back();
    for (const Run &run : graph.runs(c)) {
      const Table &t = graph.table(run.op);
      for (uint32_t row = run.begin; row != run.end; ++row) {
        std::span<const ClassId> kids(t.key(row), t.arity());
        Node n{
            c, {kids.begin(), kids.end()}, cost(run.op, t.payload(row), kids)};
        if (n.cost == kInfiniteCost ||
            std::find(kids.begin(), kids.end(), c) != kids.end())
          continue;
        for (ClassId k : kids)
          reach(k);
        ofClass[c].push_back(nodes.size());
        nodes.push_back(std::move(n));
      }
    }
  }
  findComponents();
}

/// Two passes: order the classes by the end of a depth-first search along the
/// edges, then, in descending order, collect the classes that reach each class
/// against the edges.
void Problem::findComponents() {
  size_t size = ofClass.size();
  std::vector<std::vector<ClassId>> down(size), up(size);
  for (const Node &n : nodes)
    for (ClassId k : n.children) {
      down[n.cls].push_back(k);
      up[k].push_back(n.cls);
    }
  std::vector<ClassId> ended;
  std::vector<size_t> next(size);
  std::vector<bool> seen(size);
  for (ClassId c = 0; c != size; ++c) {
    if (seen[c])
      continue;
    seen[c] = true;
    std::vector<ClassId> path{c};
    while (!path.empty()) {
      ClassId at = path.back();
      if (next[at] == down[at].size()) {
        ended.push_back(at);
        path.pop_back();
      } else if (ClassId k = down[at][next[at]++]; !seen[k]) {
        seen[k] = true;
        path.push_back(k);
      }
    }
  }
  component.assign(size, kNone);
  for (size_t i = size; i-- != 0;) {
    if (component[ended[i]] != kNone)
      continue;
    component[ended[i]] = sizeOfComponent.size();
    sizeOfComponent.push_back(0);
    std::vector<ClassId> stack{ended[i]};
    while (!stack.empty()) {
      ClassId c = stack.back();
      stack.pop_back();
      ++sizeOfComponent.back();
      for (ClassId p : up[c])
        if (component[p] == kNone) {
          component[p] = sizeOfComponent.size() - 1;
          stack.push_back(p);
        }
    }
  }
}

/// The integer program in the LP format.
std::string Problem::text() const {
  std::ostringstream os;
  os.precision(17);
  auto sumOf = [&](ClassId c, const char *sign) {
    for (unsigned i : ofClass[c])
      os << " " << sign << " n" << i;
  };
  os << "Minimize\n obj: 0 zero";
  for (unsigned i = 0; i != nodes.size(); ++i)
    os << "\n + " << nodes[i].cost << " n" << i;
  os << "\nSubject To\n";
  for (size_t i = 0; i != roots.size(); ++i) {
    os << " root" << i << ": zero";
    sumOf(roots[i], "+");
    os << " >= 1\n";
  }
  for (ClassId c = 0; c != ofClass.size(); ++c)
    if (ofClass[c].size() > 1) {
      os << " one" << c << ":";
      sumOf(c, "+");
      os << " <= 1\n";
    }
  std::set<ClassId> leveled;
  for (unsigned i = 0; i != nodes.size(); ++i) {
    const Node &n = nodes[i];
    std::set<ClassId> kids(n.children.begin(), n.children.end());
    for (ClassId k : kids) {
      os << " needs" << i << "_" << k << ": n" << i;
      sumOf(k, "-");
      os << " <= 0\n";
      if (component[k] != component[n.cls])
        continue;
      // level of the class - level of the child >= 1 if the node is chosen.
      unsigned size = sizeOfComponent[component[k]];
      os << " above" << i << "_" << k << ": l" << n.cls << " - l" << k << " - "
         << size << " n" << i << " >= " << 1 - double(size) << "\n";
      leveled.insert({n.cls, k});
    }
  }
  os << "Bounds\n zero = 0\n";
  for (ClassId c : leveled)
    os << " 0 <= l" << c << " <= " << sizeOfComponent[component[c]] - 1 << "\n";
  os << "Binaries\n";
  for (unsigned i = 0; i != nodes.size(); ++i)
    os << " n" << i << "\n";
  os << "End\n";
  return os.str();
}

/// The cost of everything that the roots need; std::nullopt for an invalid
/// choice.
std::optional<double> Problem::priceOf(const std::vector<bool> &chosen) const {
  double price = 0;
  enum State : uint8_t { New, Open, Done };
  std::vector<State> state(ofClass.size());
  bool good = true;
  auto visit = [&](auto &&self, ClassId c) -> void {
    good &= state[c] != Open;
    if (state[c] != New)
      return;
    state[c] = Open;
    const Node *taken = nullptr;
    for (unsigned i : ofClass[c])
      if (chosen[i])
        taken = &nodes[i];
    if (taken) {
      price += taken->cost;
      for (ClassId k : taken->children)
        self(self, k);
    }
    good &= taken != nullptr;
    state[c] = Done;
  };
  for (ClassId root : roots)
    visit(visit, root);
  return good ? std::optional(price) : std::nullopt;
}

/// Runs the solver; true if it finished in time.
bool run(const std::string &problem, const std::string &solution,
         unsigned maxSeconds) {
  std::string seconds = std::to_string(maxSeconds);
  const char *argv[] = {"cbc",
                        problem.c_str(),
                        "-seconds",
                        seconds.c_str(),
                        "-ratioGap",
                        "0",
                        "-allowableGap",
                        "0",
                        "-solve",
                        "-solution",
                        solution.c_str(),
                        nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid;
  int failed = posix_spawnp(&pid, argv[0], &quiet, nullptr,
                            const_cast<char **>(argv), environ);
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  return !failed && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

} // namespace

bool luminal::eqsat::test::hasIlpSolver() {
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/cbc").c_str(), X_OK) == 0)
      return true;
  return false;
}

std::optional<double>
luminal::eqsat::test::solveByIlp(const EGraph &graph,
                                 std::span<const ClassId> roots,
                                 const NodeCostFn &cost, unsigned maxSeconds) {
  Problem p(graph, roots, cost);
  std::string folder =
      (std::filesystem::temp_directory_path() / "luminal-ilp-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    return std::nullopt;
  std::string problem = folder + "/problem.lp", solution = folder + "/solution";
  std::ofstream(problem) << p.text();
  bool ran = run(problem, solution, maxSeconds);
  std::ifstream in(solution);
  std::string line;
  std::getline(in, line);
  std::vector<bool> chosen(p.nodes.size());
  for (std::string rest; std::getline(in, rest);) {
    std::istringstream words(rest);
    std::string number, name;
    double value = 0;
    words >> number >> name >> value;
    if (name.size() > 1 && name[0] == 'n' && value > 0.5)
      chosen[std::stoul(name.substr(1))] = true;
  }
  in.close();
  std::filesystem::remove_all(folder);
  if (!ran)
    return std::nullopt;
  if (line.rfind("Infeasible", 0) == 0 ||
      line.rfind("Integer infeasible", 0) == 0)
    return kInfiniteCost;
  if (line.rfind("Optimal", 0) != 0)
    return std::nullopt;
  return p.priceOf(chosen);
}
