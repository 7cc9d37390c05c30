import BackgroundFetch
import Dispatch
import Testing

@Suite("Completion")
struct FetchCompletionTests {
  let results = Journal<FetchResult>()
  let log = Journal<String>()

  @Test("the first result counts, later ones are logged", arguments: FetchResult.allCases)
  func once(first: FetchResult) {
    let completion = FetchCompletion(log: log.append, handler: results.append)
    #expect(completion(first))
    for late in FetchResult.allCases { #expect(!completion(late)) }
    #expect(results.entries == [first])
    #expect(log.entries == FetchResult.allCases.map { "a completion was called again, with \($0.rawValue)" })
  }

  @Test("one that is let go of without a result has failed")
  func dropped() {
    _ = FetchCompletion(log: log.append, handler: results.append)
    #expect(results.entries == [.failed])
    #expect(log.entries == ["a completion was dropped without a result"])
  }

  @Test("one that was called is let go of in silence")
  func droppedAfterwards() {
    FetchCompletion(log: log.append, handler: results.append)(.noData)
    #expect(results.entries == [.noData])
    #expect(log.entries.isEmpty)
  }

  @Test("a handler may call it again from within")
  func reentrant() {
    let again = Journal<Bool>()
    let itself = Journal<FetchCompletion>()
    let completion = FetchCompletion(log: log.append) { _ in again.append(itself.entries[0](.noData)) }
    itself.append(completion)
    completion(.newData)
    #expect(again.entries == [false])
  }

  @Test("of many threads that call it at once, one is first")
  func threads() {
    for _ in 0..<1_000 {
      let first = Journal<Bool>()
      let completion = FetchCompletion(handler: results.append)
      DispatchQueue.concurrentPerform(iterations: 4) { _ in if completion(.noData) { first.append(true) } }
      #expect(first.entries.count == 1)
    }
    #expect(results.entries.count == 1_000)
  }
}
