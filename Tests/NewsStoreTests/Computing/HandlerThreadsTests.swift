import Foundation
import NewsStore
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite struct HandlerThreadsTests {
  /// The editors of the steps that have run.
  private final class Order: Sendable {
    let editors = Mutex<[String]>([])
  }

  @Test("An editor with very many steps delays each other editor by one step")
  func turns() async throws {
    let threads = HandlerThreads(name: "test", count: 1)
    let (hasBegun, isOpen) = (Flag(), Flag())
    let order = Order()
    func step(_ editor: String) -> Task<Void, Never> {
      Task(executorPreference: threads.executor(for: editor)) { order.editors.withLock { $0.append(editor) } }
    }
    let first = Task(executorPreference: threads.executor(for: "script")) {
      hasBegun.set()
      while !isOpen.isSet { usleep(1000) }
    }
    try await eventually("the thread is busy") { hasBegun.isSet }
    let steps = (0..<50).map { _ in step("script") } + [step("desk"), step("desk")]
    isOpen.set()
    for step in [first] + steps { await step.value }
    let editors = order.editors.withLock { $0 }
    #expect(editors.count == 52)
    #expect(editors.lastIndex(of: "desk") ?? .max <= 3)
  }
}
