/// A step of a phone: one or more requests of the same kind.
enum PhoneStep {
  /// A request for changes.
  ///
  /// - Parameter at: The number of publications that the response must have; nil for any.
  case fetch(at: Int?)
  /// A request for the first page.
  case page
  /// A request that no cache answers: `read` for the push services, or one about a device.
  case uncached(Operation)
  case longPoll(seconds: Double)
  case stream(seconds: Double)
}

extension Action {
  /// The steps of the action with their times.
  ///
  /// - Parameters:
  ///   - hasPush: Whether the phone has a push service.
  ///   - history: The publications of the phone's scope.
  ///   - published: Returns the number of publications of the newsroom at a time.
  func steps(
    hasPush: Bool, _ history: ScopeHistory, published: (Double) -> Int
  ) -> [(time: Double, step: PhoneStep)] {
    func all(_ steps: [PhoneStep]) -> [(Double, PhoneStep)] { steps.map { (time, $0) } }
    switch kind {
    case .wake, .open: return all([.fetch(at: nil)])
    case .push(let publications): return all([.fetch(at: publications)])
    case .install: return all(hasPush ? [.page, .uncached(.read), .uncached(.register), .uncached(.report)] : [.page])
    case .update: return all(hasPush ? [.page, .uncached(.renew), .uncached(.report)] : [.page])
    case .renew: return all([.uncached(.renew), .uncached(.report)])
    case .report: return all([.uncached(.report)])
    case .longPoll(let seconds): return all([.longPoll(seconds: seconds)])
    case .events(let seconds):
      var steps = all([.stream(seconds: seconds)])
      var now = time
      while let next = history.next(after: now), next < time + seconds {
        steps.append((next, .fetch(at: published(next))))
        now = next
      }
      return steps
    }
  }

  /// Whether the phone opens a connection for it. A connection is used again while the app is awake.
  var opensConnection: Bool {
    switch kind {
    case .wake, .open, .push, .install, .update: true
    case .renew, .report, .longPoll, .events: false
    }
  }
}
