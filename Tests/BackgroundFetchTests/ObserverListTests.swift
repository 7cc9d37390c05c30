import BackgroundFetch
import Dispatch
import Testing

@Suite("Observer list")
struct ObserverListTests {
  @Test("each observer is called once per value, in the order of registration, until it cancels")
  func order() {
    let observers = ObserverList<Int>()
    let received = Journal<String>()
    let first = observers.add { received.append("a\($0)") }
    let second = observers.add { received.append("b\($0)") }
    observers.notify(1)
    first.cancel()
    first.cancel()
    observers.notify(2)
    #expect(received.entries == ["a1", "b1", "b2"])
    second.cancel()
    observers.notify(3)
    #expect(received.entries.count == 3)
  }

  @Test("many observers are called in the order of registration")
  func manyInOrder() {
    let observers = ObserverList<Void>()
    let received = Journal<Int>()
    let registrations = (0..<100).map { number in observers.add { received.append(number) } }
    observers.notify(())
    #expect(received.entries == Array(0..<100))
    withExtendedLifetime(registrations) {}
  }

  @Test("releasing the token ends the registration and releases the body")
  func dropped() {
    let observers = ObserverList<Int>()
    let received = Journal<Int>()
    weak var held: Gate?
    do {
      let gate = Gate()
      held = gate
      let registration = observers.add { [gate] value in
        gate.open()
        received.append(value)
      }
      observers.notify(1)
      withExtendedLifetime(registration) {}
    }
    observers.notify(2)
    #expect(received.entries == [1])
    #expect(held == nil)
  }

  @Test("a token does not retain the list, and may outlive it")
  func weakness() {
    var observers: ObserverList<Int>? = ObserverList()
    weak let held = observers
    let registration = observers?.add { _ in }
    observers = nil
    #expect(held == nil)
    registration?.cancel()
  }

  @Test("an observer added during a delivery gets the next value, a removed one gets none")
  func changesWhileTelling() {
    let observers = ObserverList<Int>()
    let (received, registrations) = (Journal<String>(), Journal<ObservationToken>())
    let first = observers.add { value in
      received.append("first \(value)")
      if value > 1 { return }
      registrations.entries[0].cancel()
      registrations.append(observers.add { received.append("new \($0)") })
    }
    registrations.append(observers.add { received.append("gone \($0)") })
    observers.notify(1)
    observers.notify(2)
    #expect(received.entries == ["first 1", "first 2", "new 2"])
    first.cancel()
  }

  @Test("a value sent by an observer is delivered to all after the current value")
  func reentrant() {
    let observers = ObserverList<Int>()
    let received = Journal<String>()
    let first = observers.add { value in
      received.append("a\(value)")
      if value < 3 { observers.notify(value + 1) }
    }
    let second = observers.add { received.append("b\($0)") }
    observers.notify(1)
    #expect(received.entries == ["a1", "b1", "a2", "b2", "a3", "b3"])
    withExtendedLifetime((first, second)) {}
  }

  @Test("values of concurrent threads are delivered once to each observer, in one order")
  func threads() {
    let observers = ObserverList<Int>()
    let received = (Journal<Int>(), Journal<Int>())
    let registrations = [observers.add(received.0.append), observers.add(received.1.append)]
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<500 { observers.notify(thread * 500 + number) }
    }
    #expect(received.0.entries.sorted() == Array(0..<2_000))
    #expect(received.0.entries == received.1.entries)
    withExtendedLifetime(registrations) {}
  }

  @Test("threads may register and cancel while others notify")
  func registrationThreads() {
    let observers = ObserverList<Int>()
    let received = Journal<Int>()
    let lasting = observers.add(received.append)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<500 {
        if thread == 0 { observers.notify(number) } else { observers.add { _ in }.cancel() }
      }
    }
    #expect(received.entries == Array(0..<500))
    withExtendedLifetime(lasting) {}
  }

  @Test("the sequence yields each value after its creation, to a slow reader too")
  func sequence() async {
    let observers = ObserverList<Int>()
    observers.notify(0)
    var values = observers.values().makeAsyncIterator()
    for number in 1...1000 { observers.notify(number) }
    for number in 1...1000 { #expect(await values.next() == number) }
  }

  @Test(
    "the sequence of a reader that has stopped reading keeps a limited number of the newest values",
    arguments: [nil, 3])
  func boundedSequence(limit: Int?) async {
    let observers = ObserverList<Int>()
    var values = (limit.map { observers.values(bufferingNewest: $0) } ?? observers.values()).makeAsyncIterator()
    for number in 1...1500 { observers.notify(number) }
    #expect(await values.next() == 1501 - (limit ?? 1000))
  }

  @Test("the sequence ends with the list, and with the cancellation of its reader")
  func ends() async throws {
    var observers: ObserverList<Int>? = ObserverList()
    let values = try #require(observers).values()
    let others = try #require(observers).values()
    let cancelled = Task { for await _ in others {} }
    cancelled.cancel()
    await cancelled.value
    let reader = Task { for await _ in values {} }
    observers = nil
    await reader.value
  }

  @Test("a released sequence is removed from the list")
  func sequenceDropped() {
    let observers = ObserverList<Gate>()
    weak var held: Gate?
    do {
      let gate = Gate()
      held = gate
      let values = observers.values()
      observers.notify(gate)
      withExtendedLifetime(values) {}
    }
    #expect(held == nil)
  }
}
