import NewsAPI
import Testing

@Suite struct RepeatDetectorTests {
  @Test("A key is remembered until a given number of other keys were seen, and for at most twice as many")
  func repeats() {
    let detector = RepeatDetector(capacity: 3)
    #expect((1...4).allSatisfy { !detector.insert($0) })
    #expect(detector.insert(4))
    #expect(detector.insert(1))
    #expect((5...10).allSatisfy { !detector.insert($0) })
    #expect(!detector.insert(1))
  }
}
