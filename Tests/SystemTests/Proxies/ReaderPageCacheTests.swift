import Foundation
import News
import TestKit
import TestSupport
import Testing

/// Pages for readers in caches in front of the server.
@Suite struct ReaderPageCacheTests {
  @Test(
    "Pages are stored, whatever cookies readers send, and revalidated with their entity tag", arguments: Edge.caches)
  func stored(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      let id = try await setting.publish("one")
      for (target, route) in [("/", "/"), ("/items/\(id)", "/items/{id}")] {
        let first = try await setting.get(target, ("Accept-Encoding", "identity"))
        #expect(first.status == 200 && first["Content-Type"] == "text/html; charset=utf-8")
        let start = ContinuousClock.now
        for number in 0..<30 {
          let answer = try await setting.get(
            target, ("Accept-Encoding", "identity"), ("Cookie", "a=\(number)"), ("Accept-Language", "de"))
          #expect(answer.status == 200 && answer["ETag"] == first["ETag"] && answer.body == first.body)
          #expect(answer["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
        }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        #expect(1...(seconds + 3) ~= (try await setting.requests(route)))
        let known = try await setting.get(
          target, ("Accept-Encoding", "identity"), ("If-None-Match", try #require(first["ETag"])))
        #expect(known.status == 304 && known.body.isEmpty)
        try await eventually("the cache revalidates") {
          _ = try await setting.get(target, ("Accept-Encoding", "identity"))
          return try await setting.requests(route, status: 304) > 0
        }
        let zipped = try await setting.get(target, ("Accept-Encoding", "gzip"))
        #expect(zipped["Content-Encoding"] == "gzip" && zipped["Vary"] == "Accept-Encoding")
      }
    }
  }

  @Test("The stylesheet of a page is requested from the server once", arguments: Edge.caches)
  func stylesheet(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      let page = try PageScan(try await setting.get("/").text)
      let link = try #require(page.links("stylesheet").first)
      for _ in 0..<10 {
        let answer = try await setting.get(link, ("Accept-Encoding", "gzip"))
        #expect((answer.status, answer["Cache-Control"]) == (200, "max-age=31536000, immutable"))
      }
      #expect(try await setting.requests("/assets/{name}") == 1)
    }
  }

  @Test("No cache keeps the service worker, so that browsers find a new one at once", arguments: Edge.caches)
  func worker(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      let first = try await setting.get("/worker.js")
      for number in 2...5 {
        let answer = try await setting.get("/worker.js")
        #expect((answer.status, answer["Cache-Control"]) == (200, "no-cache"))
        #expect(answer["Content-Security-Policy"] == first["Content-Security-Policy"] && answer.body == first.body)
        #expect(try await setting.requests("/worker.js") == number)
      }
      let known = try await setting.get("/worker.js", ("If-None-Match", try #require(first["ETag"])))
      #expect(known.status == 304 && known.body.isEmpty)
    }
  }

  @Test("The page of a retracted item replaces the stored one", arguments: Edge.installed)
  func retraction(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      let id = try await setting.publish("one")
      for _ in 0..<2 { #expect(try await setting.get("/items/\(id)").status == 200) }
      #expect(try await setting.get("/").text.contains("/items/\(id)"))
      try await setting.retract(id)
      try await eventually("the item's page is gone") { try await setting.get("/items/\(id)").status == 410 }
      try await eventually("the front page lacks the item") {
        !(try await setting.get("/").text.contains("/items/\(id)"))
      }
      let gone = try await setting.get("/items/\(id)")
      #expect((gone.status, gone["Content-Type"]) == (410, "text/html; charset=utf-8"))
    }
  }
}
