import ArgumentParser

/// Measures how fast changes reach clients, and the cost of the clients that wait for them.
@main
struct LiveBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(subcommands: [
    Propagation.self, Connections.self, Herd.self, Stored.self, Processes.self, Snapshot.self, Snapshots.self,
    Views.self, Commits.self, Handed.self,
  ])
}
