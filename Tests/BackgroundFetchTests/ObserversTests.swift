import BackgroundFetch
import Dispatch
import Testing

@Suite("Observers")
struct ObserversTests {
  @Test("each is told once for each time, in the order of registration, until they cancel")
  func order() {
    let observers = Observers<Int>()
    let told = Journal<String>()
    let first = observers.add { told.append("a\($0)") }
    let second = observers.add { told.append("b\($0)") }
    observers.notify(1)
    first.cancel()
    first.cancel()
    observers.notify(2)
    #expect(told.entries == ["a1", "b1", "b2"])
    second.cancel()
    observers.notify(3)
    #expect(told.entries.count == 3)
  }

  @Test("many are told in the order of registration, too")
  func manyInOrder() {
    let observers = Observers<Void>()
    let told = Journal<Int>()
    let registrations = (0..<100).map { number in observers.add { told.append(number) } }
    observers.notify(())
    #expect(told.entries == Array(0..<100))
    withExtendedLifetime(registrations) {}
  }

  @Test("letting go of the registration ends it, and what the body holds is let go of")
  func dropped() {
    let observers = Observers<Int>()
    let told = Journal<Int>()
    weak var held: Gate?
    do {
      let gate = Gate()
      held = gate
      let registration = observers.add { [gate] value in
        gate.open()
        told.append(value)
      }
      observers.notify(1)
      withExtendedLifetime(registration) {}
    }
    observers.notify(2)
    #expect(told.entries == [1])
    #expect(held == nil)
  }

  @Test("a registration does not keep the observers alive, and outlives them")
  func weakness() {
    var observers: Observers<Int>? = Observers()
    weak let held = observers
    let registration = observers?.add { _ in }
    observers = nil
    #expect(held == nil)
    registration?.cancel()
  }

  @Test("who comes while others are told is told from the next time on, who leaves is not told any more")
  func changesWhileTelling() {
    let observers = Observers<Int>()
    let (told, registrations) = (Journal<String>(), Journal<Observation>())
    let first = observers.add { value in
      told.append("first \(value)")
      if value > 1 { return }
      registrations.entries[0].cancel()
      registrations.append(observers.add { told.append("new \($0)") })
    }
    registrations.append(observers.add { told.append("gone \($0)") })
    observers.notify(1)
    observers.notify(2)
    #expect(told.entries == ["first 1", "first 2", "new 2"])
    first.cancel()
  }

  @Test("a value that is told from within comes after the one that is being told, for everybody")
  func reentrant() {
    let observers = Observers<Int>()
    let told = Journal<String>()
    let first = observers.add { value in
      told.append("a\(value)")
      if value < 3 { observers.notify(value + 1) }
    }
    let second = observers.add { told.append("b\($0)") }
    observers.notify(1)
    #expect(told.entries == ["a1", "b1", "a2", "b2", "a3", "b3"])
    withExtendedLifetime((first, second)) {}
  }

  @Test("threads that notify at once: everybody is told everything once, in one order")
  func threads() {
    let observers = Observers<Int>()
    let told = (Journal<Int>(), Journal<Int>())
    let registrations = [observers.add(told.0.append), observers.add(told.1.append)]
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<500 { observers.notify(thread * 500 + number) }
    }
    #expect(told.0.entries.sorted() == Array(0..<2_000))
    #expect(told.0.entries == told.1.entries)
    withExtendedLifetime(registrations) {}
  }

  @Test("threads that come and go while others notify hold nothing up")
  func registrationThreads() {
    let observers = Observers<Int>()
    let told = Journal<Int>()
    let lasting = observers.add(told.append)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<500 {
        if thread == 0 { observers.notify(number) } else { observers.add { _ in }.cancel() }
      }
    }
    #expect(told.entries == Array(0..<500))
    withExtendedLifetime(lasting) {}
  }

  @Test("the sequence yields every value that comes after it was made, to a slow reader too")
  func sequence() async {
    let observers = Observers<Int>()
    observers.notify(0)
    var values = observers.values().makeAsyncIterator()
    for number in 1...1000 { observers.notify(number) }
    for number in 1...1000 { #expect(await values.next() == number) }
  }

  @Test("a reader who has stopped reading keeps the newest values up to a bound", arguments: [nil, 3])
  func boundedSequence(limit: Int?) async {
    let observers = Observers<Int>()
    var values = (limit.map { observers.values(bufferingNewest: $0) } ?? observers.values()).makeAsyncIterator()
    for number in 1...1500 { observers.notify(number) }
    #expect(await values.next() == 1501 - (limit ?? 1000))
  }

  @Test("the sequence ends with the observers, and for a reader who is cancelled")
  func ends() async throws {
    var observers: Observers<Int>? = Observers()
    let values = try #require(observers).values()
    let others = try #require(observers).values()
    let cancelled = Task { for await _ in others {} }
    cancelled.cancel()
    await cancelled.value
    let reader = Task { for await _ in values {} }
    observers = nil
    await reader.value
  }

  @Test("a sequence that is let go of leaves nothing behind")
  func sequenceDropped() {
    let observers = Observers<Gate>()
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
