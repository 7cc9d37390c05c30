import NewsDelivery
import TestKit
import TestSupport
import Testing

/// The bound of concurrent requests to a host.
@Suite struct HostGateTests {
  @Test("A host has a bounded number of requests, and a place is handed on")
  func width() async throws {
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
    #expect(await next || .now - start > HostGate.longestWait / 2)
  }

  @Test("Requests to a host that does not respond are refused, and later ones find places")
  func refusal() async throws {
    let gate = HostGate()
    for _ in 0..<HostGate.width { #expect(await gate.enter()) }
    async let first = gate.enter()
    async let second = gate.enter()
    #expect(await [first, second] == [false, false])
    // By now the host is known to be slow, and nobody waits for it.
    let start = ContinuousClock.now
    #expect(await !gate.enter())
    #expect(ContinuousClock.now - start < HostGate.longestWait)
    for _ in 0..<HostGate.width { gate.leave(hasResponded: true) }
    #expect(await gate.enter())
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
