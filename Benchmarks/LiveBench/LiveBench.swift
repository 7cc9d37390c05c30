import ArgumentParser

/// Measures how fast news spread, and what those cost who wait for them.
@main
struct LiveBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(subcommands: [
    Propagation.self, Crowd.self, Herd.self, Stored.self, Processes.self,
  ])
}
