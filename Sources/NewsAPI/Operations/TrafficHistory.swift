package import Foundation
import Synchronization

/// The totals of public reads since the start of the process.
package struct TrafficTotals: Sendable, Equatable {
  /// The number of answered requests.
  package var requests = 0
  /// The number of those answered with 304.
  package var notModified = 0
  /// The bytes of bodies, as sent. The bodies of event streams count once the stream has ended.
  package var sentBytes = 0
  /// The bytes of bodies, uncompressed, that 304s have spared.
  package var savedByNotModified = 0
  /// The bytes that compression has spared.
  package var savedByCompression = 0
  /// The number of requests for lists, changes, states and feeds.
  package var polls = 0
  /// The number of those answered with 304.
  package var unchangedPolls = 0

  /// Creates totals; by default those of a process without a request.
  package init(
    requests: Int = 0, notModified: Int = 0, sentBytes: Int = 0, savedByNotModified: Int = 0,
    savedByCompression: Int = 0, polls: Int = 0, unchangedPolls: Int = 0
  ) {
    self.requests = requests
    self.notModified = notModified
    self.sentBytes = sentBytes
    self.savedByNotModified = savedByNotModified
    self.savedByCompression = savedByCompression
    self.polls = polls
    self.unchangedPolls = unchangedPolls
  }
}

/// The clients that are connected to a process.
package struct ConnectedClients: Sendable, Equatable {
  /// The number of open connections, idle ones and those of proxies included.
  package var connections: Int
  /// The number of requests that wait for changes.
  package var longPolls: Int
  /// The number of open event streams.
  package var eventStreams: Int
}

/// The public reads of the last minutes and hours, by totals that are read at an interval. Requests do no work for it.
package final class TrafficHistory: Sendable {
  /// The totals at a time.
  package struct Sample: Sendable, Equatable {
    /// The time since the history began.
    package var time: Duration
    package var totals: TrafficTotals

    package init(time: Duration, totals: TrafficTotals) {
      (self.time, self.totals) = (time, totals)
    }
  }

  /// The polls of an hour.
  package struct Hour: Sendable, Equatable {
    /// The beginning of the hour.
    package var start: Date
    package var polls = 0
    /// The number of those answered with 304.
    package var unchanged = 0
  }

  /// The time for which samples are kept: 5 minutes.
  package static let length: Duration = .seconds(300)
  /// The number of hours that are kept.
  package static let hourCount = 24
  private static let hourSeconds = 3600

  private struct State {
    /// The samples, oldest first: those of `length`, and one before them.
    var samples: [Sample] = []
    /// The polls by the number of the hour since 1970.
    var hours: [Int: Hour] = [:]
  }

  /// The time at which the history began. Later changes of the clock have no effect.
  package let start: Date
  private let began = ContinuousClock.now
  private let interval: Duration
  private let read: @Sendable () -> TrafficTotals
  private let state = Mutex(State())

  /// - Parameters:
  ///   - start: The time of the start.
  ///   - interval: The interval between two samples.
  ///   - read: Returns the current totals, which never decrease.
  package init(start: Date = Date(), interval: Duration, read: @escaping @Sendable () -> TrafficTotals) {
    self.start = start
    self.interval = interval
    self.read = read
  }

  /// The time since the history began.
  package var age: Duration { .now - began }

  /// The current totals.
  package var totals: TrafficTotals { read() }

  /// The samples of the last 5 minutes, oldest first, and one before them.
  package var samples: [Sample] { state.withLock { $0.samples } }

  /// Takes samples until the task is cancelled.
  package func run() async {
    repeat {
      record(read(), at: age)
    } while (try? await Task.sleep(for: interval)) != nil
  }

  /// Adds a sample.
  ///
  /// - Parameter time: The time since the history began. It never decreases.
  package func record(_ totals: TrafficTotals, at time: Duration) {
    let number = hourNumber(at: time)
    state.withLock { state in
      let before = state.samples.last?.totals ?? TrafficTotals()
      var hour = state.hours[number] ?? Hour(start: Self.date(ofHour: number))
      hour.polls += totals.polls - before.polls
      hour.unchanged += totals.unchangedPolls - before.unchangedPolls
      state.hours[number] = hour
      if state.hours.count > Self.hourCount {
        state.hours = state.hours.filter { $0.key > number - Self.hourCount }
      }
      state.samples.append(Sample(time: time, totals: totals))
      let firstOfLength = state.samples.firstIndex { $0.time >= time - Self.length } ?? 0
      state.samples.removeFirst(max(0, firstOfLength - 1))
    }
  }

  /// Returns the polls of the last 24 hours, the current one last. Hours without a sample have no polls.
  ///
  /// - Parameter time: The time since the history began.
  package func hours(at time: Duration) -> [Hour] {
    let last = hourNumber(at: time)
    let known = state.withLock { $0.hours }
    return (last - Self.hourCount + 1...last).map { known[$0] ?? Hour(start: Self.date(ofHour: $0)) }
  }

  private func hourNumber(at time: Duration) -> Int {
    let seconds = start.timeIntervalSince1970 + time / .seconds(1)
    return Int((seconds / Double(Self.hourSeconds)).rounded(.down))
  }

  private static func date(ofHour number: Int) -> Date {
    Date(timeIntervalSince1970: Double(number * hourSeconds))
  }
}
