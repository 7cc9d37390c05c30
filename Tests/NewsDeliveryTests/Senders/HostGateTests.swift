import NewsDelivery
import TestKit
import TestSupport
import Testing

/// The bound of concurrent requests to a host.
@Suite struct HostGateTests {
  @Test("A host has a bounded number of requests, and a place is handed on")
  func width() async throws {
    #expect(HostGate.width == 100 && HostGate.longestWait == .seconds(1))
    let gate = HostGate()
    for _ in 0..<HostGate.width { #expect(await gate.enter()) }
    // A response after each wait keeps the host from counting as slow.
    let isAdmitted = Flag()
    let waiting = Task {
      while await !gate.enter() {}
      isAdmitted.set()
    }
    try await eventually("the request has a place") {
      if isAdmitted.isSet { return true }
      gate.leave(hasResponded: true)
      return false
    }
    await waiting.value
  }

  @Test("A host without requests for a while does not count as slow")
  func idle() async throws {
    let gate = HostGate()
    try await Task.sleep(for: HostGate.longestWait * 1.1)
    let start = ContinuousClock.now
    for _ in 0..<HostGate.width { #expect(await gate.enter()) }
    async let next = gate.enter()
    try await Task.sleep(for: HostGate.longestWait / 10)
    gate.leave(hasResponded: true)
    // Only on a machine that stands still, the wait is too long.
    #expect(await next || .now - start > HostGate.longestWait / 2)
  }

  @Test("A host that responds does not count as slow, however long it has had requests")
  func responsive() async throws {
    let gate = HostGate()
    for _ in 0..<HostGate.width { #expect(await gate.enter()) }
    try await Task.sleep(for: HostGate.longestWait * 1.1)
    gate.leave(hasResponded: true)
    let start = ContinuousClock.now
    #expect(await gate.enter())
    async let next = gate.enter()
    try await Task.sleep(for: HostGate.longestWait / 10)
    gate.leave(hasResponded: true)
    let isAdmitted = await next
    #expect(isAdmitted || .now - start > HostGate.longestWait / 2)
    // The place that was handed on is taken.
    if isAdmitted { #expect(await !gate.enter()) }
  }

  @Test("Requests to a host that does not respond are refused, and later ones find places")
  func refusal() async throws {
    let gate = HostGate()
    let begun = ContinuousClock.now
    for _ in 0..<HostGate.width { #expect(await gate.enter()) }
    async let first = gate.enter()
    try await Task.sleep(for: HostGate.longestWait / 2)
    var start = ContinuousClock.now
    #expect(await !gate.enter())
    // Each one waits for its own time. Only on a machine that stands still, the host is known to be slow before.
    let (wait, delay) = (ContinuousClock.now - start, start - begun)
    #expect(wait >= HostGate.longestWait || delay > HostGate.longestWait * 0.75)
    #expect(await !first)
    // By now the host is known to be slow, and nobody waits for it.
    start = .now
    #expect(await !gate.enter())
    #expect(ContinuousClock.now - start < HostGate.longestWait)
    for _ in 0..<HostGate.width { gate.leave(hasResponded: true) }
    for _ in 0..<HostGate.width { #expect(await gate.enter()) }
    // Later waiters are refused in time too.
    let isRefused = Flag()
    Task { if await !gate.enter() { isRefused.set() } }
    try await eventually("the request is refused") { isRefused.isSet }
  }

  @Test("A host that has failed twice has as many requests as before")
  func twoFailures() async throws {
    let gate = HostGate()
    for _ in 0..<2 {
      #expect(await gate.enter())
      gate.leave(hasResponded: false)
    }
    for _ in 0..<HostGate.width { #expect(await gate.enter()) }
  }

  @Test("A host that has failed three times in a row has two requests, and others are refused without waiting")
  func failures() async throws {
    let gate = HostGate()
    for _ in 0..<3 {
      #expect(await gate.enter())
      gate.leave(hasResponded: false)
    }
    let start = ContinuousClock.now
    for _ in 0..<40 {
      #expect(await gate.enter())
      #expect(await gate.enter())
      #expect(await !gate.enter())
      for _ in 0..<2 { gate.leave(hasResponded: false) }
    }
    #expect(ContinuousClock.now - start < HostGate.longestWait * 30)
    #expect(await gate.enter())
    #expect(await gate.enter())
    #expect(await !gate.enter())
    gate.leave(hasResponded: true)
    #expect(await gate.enter())
    #expect(await gate.enter())
    #expect(await gate.enter())
  }

  @Test("A host that has failed three times in a row takes no waiting requests")
  func failuresWithWaiters() async throws {
    let gate = HostGate()
    for _ in 0..<HostGate.width { #expect(await gate.enter()) }
    let admitted = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 { group.addTask { await gate.enter() } }
      // A task that does not wait by then is refused too.
      try? await Task.sleep(for: HostGate.longestWait / 10)
      for _ in 0..<20 { gate.leave(hasResponded: false) }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(admitted <= 2)
  }
}
