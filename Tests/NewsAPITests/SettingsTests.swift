import News
import NewsAPI
import NewsStore
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

  @Test("Without settings, the limits of devices and uploads are those of the documentation")
  func limits() {
    let settings = NewsAPI.Settings()
    #expect(settings.push.offer.providers.isEmpty && !settings.push.allowsEndpoint("https://push.example/1"))
    #expect(settings.push.limits.total == 10_000_000 && settings.push.limits.perHost == 10_000)
    #expect(settings.push.registrationsPerAddress == 60)
    #expect(settings.maximumMediaBytes == 2_147_483_648 && settings.unfinishedUploadsPerKey == 20)
    #expect(settings.uploadLifetime == 86_400)
  }
}
