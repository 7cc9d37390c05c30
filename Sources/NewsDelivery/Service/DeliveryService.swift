import BackgroundWork
package import Foundation
package import Logging
import News
package import NewsStore

/// Delivers pushes: reads what was published, finds the devices that are to be woken, and sends the messages. It also hands
/// the events of items to the webhooks, and is therefore needed without any push service too.
///
/// Any number of processes may do so. The database ensures that a device is sent each message by one of them.
///
///     let configuration = try DeliveryConfiguration(settings)
///     let service = configuration.service(store: store, policy: policy, publicURL: nil, logger: logger)
///     await service.run()
public final class DeliveryService: Sendable {
  /// The limits of deliveries.
  public struct Limits: Sendable {
    /// The time within which several publishes become one push, 0...3600 seconds.
    public var window: Duration = .seconds(60)
    /// The maximum number of silent pushes to a device within an hour.
    public var budget = 3
    /// The share of messages that ask for a report, 0...1.
    public var reportRate = 0.01

    /// Creates limits with default values.
    public init() {}
  }

  /// The bounds of the wait until the database is read without a publish.
  private static let rest: ClosedRange<Duration> = .milliseconds(100) ... .seconds(1)
  /// The interval in which devices and debts are counted for metrics.
  private static let countTime: Duration = .seconds(15)

  private let store: NewsStore
  private let limits: Limits
  private let publicURL: String?
  private let countTime: Duration
  private let clock: @Sendable () -> Date?
  private let loops: [ProviderLoop]

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - senders: The senders of the push services in use, which the service shuts down at the end of `run()`.
  ///   - publicURL: The address of the installation without a trailing slash, for the events of webhooks; nil for none.
  ///   - latestStart: The maximum time between the lease of a message and the start of sending; nil for a minute.
  ///   - countTime: The interval in which devices and debts are counted for metrics; nil for 15 seconds.
  ///   - clock: The time in place of that of the database; nil for that of the database.
  package init(
    store: NewsStore, senders: [any PushSender], limits: Limits, publicURL: String? = nil, latestStart: Duration? = nil,
    countTime: Duration? = nil, logger: Logger, clock: @escaping @Sendable () -> Date? = { nil }
  ) {
    self.store = store
    self.limits = limits
    self.publicURL = publicURL
    self.countTime = countTime ?? Self.countTime
    self.clock = clock
    loops = senders.map { sender in
      ProviderLoop(
        sender: sender, store: store, reportRate: limits.reportRate,
        latestStart: latestStart ?? ProviderLoop.latestStart, logger: logger, clock: clock)
    }
  }

  /// Delivers until the task is cancelled. Messages under way then have some seconds.
  public func run() async {
    await withDiscardingTaskGroup { group in
      // Each push service has its own loop, so that a slow one delays no other.
      for loop in loops { group.addTask { await loop.run() } }
      group.addTask { await self.countDeliveries() }
      group.addTask { await self.followPublishes() }
    }
  }

  private func countDeliveries() async {
    while !Task.isCancelled {
      // An error means that the database does not answer, which the log of its connections says.
      try? await store.countDeliveries(at: clock())
      try? await Task.sleep(for: countTime)
    }
  }

  private func followPublishes() async {
    let changes = WakeSignal()
    await withDiscardingTaskGroup { group in
      group.addTask {
        await self.store.forEachVersion {
          changes.set()
          try? await Task.sleep(for: Self.rest.lowerBound)
        }
      }
      while !Task.isCancelled {
        // After an error the same is tried again with the next reading.
        let wait = (try? await deliverDue()).flatMap { $0 }.map { Duration.seconds($0) } ?? Self.rest.upperBound
        await changes.wait(for: min(max(wait, Self.rest.lowerBound), Self.rest.upperBound))
      }
    }
  }

  /// Reads the outbox, and fans out all pushes that have started.
  ///
  /// - Returns: The time until the next push starts, in seconds; nil if there is none.
  /// - Throws: The errors of the store.
  @discardableResult
  package func deliverDue() async throws -> Double? {
    while try await store.collectOutbox(window: limits.window, publicURL: publicURL, at: clock()) {}
    while try await store.fanOut(budget: limits.budget, at: clock()) { wakeLoops() }
    return try await store.nextFanOut(at: clock())
  }

  private func wakeLoops() {
    for loop in loops { loop.wake.set() }
  }
}
