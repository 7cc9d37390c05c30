import NewsAPI
import Testing

@Suite struct SettingsTests {
  @Test("Reads leave at least one connection of any pool, and searches take no more than all reads")
  func reads() {
    for size in 2...1000 {
      var settings = NewsAPI.Settings()
      settings.limitReads(ofPool: size)
      #expect((1..<size).contains(settings.concurrentReads), "\(size)")
      #expect((1...settings.concurrentReads).contains(settings.concurrentSingleReads), "\(size)")
    }
    var settings = NewsAPI.Settings()
    settings.limitReads(ofPool: 8)
    #expect(settings.concurrentReads == 6)
    #expect(settings.concurrentSingleReads == 4)
  }
}
