import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Files on a server in a process of its own.
@Suite struct MediaTests {
  private static let film = Data([0, 0, 0, 16] + Array("ftypisom0000".utf8)) + SampleMedia.png(bytes: 20_000_000)

  private static func makeKey(_ installation: Installation) async throws -> String {
    let result = try await installation.run(
      "keys", "create", "--name", "desk", "--scope", "items:publish", "media:write")
    return result.output.trimmingCharacters(in: .newlines)
  }

  private static func upload(
    _ file: Data, type: String, key: String, to server: RunningServer
  ) async throws -> TestResponse {
    try await server.client.send(
      "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", type)], file: file)
  }

  /// Publishes an item with a file: readers receive no others.
  private static func publish(_ url: String, type: String, key: String, on server: RunningServer) async throws {
    let item = #"{"text": "x", "attachments": [{"url": "\#(url)", "type": "\#(type)"}]}"#
    #expect(try await server.client.send("POST", "/v1/editorial/items", key: key, body: item).status == 201)
  }

  private static func withServer(
    _ body: @Sendable (RunningServer, _ installation: Installation, _ key: String, _ folder: URL) async throws -> Void
  ) async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await makeKey(installation)
        try await installation.serve(changes: ["TIDINGS_MEDIA_DIRECTORY": folder.path]) { server in
          try await body(server, installation, key, folder)
        }
      }
    }
  }

  @Test("After kill -9 during uploads, acknowledged files are there, and nothing of the others")
  func killed() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await Self.makeKey(installation)
        let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.path]
        let path = try await installation.serve(changes: changes) { server in
          let stored = try await Self.upload(SampleMedia.png(), type: "image/png", key: key, to: server)
          let head = """
            POST /v1/editorial/media HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\nContent-Type: video/mp4\r
            Content-Length: 50000000\r\n\r\n
            """
          let port = server.port
          let cut = Task {
            try? await RawConnection.exchange([Data(head.utf8) + Self.film], port: port, endsInput: false)
          }
          try await eventually("most of it has arrived") {
            try names(in: folder).contains { name in
              let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
              return name.hasPrefix("upload-") && (attributes[.size] as? Int ?? 0) > 10_000_000
            }
          }
          server.process.send(SIGKILL)
          _ = await server.process.result()
          _ = await cut.value
          return try stored.json(Attachment.self, status: 201).url
        }
        #expect(try names(in: folder).count == 2)
        try await installation.serve(changes: changes) { server in
          try await eventually("the rest is removed") { try names(in: folder) == [SampleMedia.png().sha256] }
          try await Self.publish(path, type: "image/png", key: key, on: server)
          let answer = try await server.send("GET", path)
          #expect(answer.body == SampleMedia.png())
          #expect(try await Self.upload(Self.film, type: "video/mp4", key: key, to: server).status == 201)
        }
      }
    }
  }

  @Test("After kill -9 during an upload over several requests, it continues at the bytes that were recorded")
  func killedPart() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await Self.makeKey(installation)
        let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.path]
        let version = ("Upload-Draft-Interop-Version", "6")
        let path = try await installation.serve(changes: changes) { server in
          let begun = try await server.client.send(
            "POST", "/v1/editorial/media", key: key,
            headers: [version, ("Upload-Complete", "?0"), ("Content-Type", "video/mp4")])
          let path = try #require(begun["Location"])
          let head = """
            PATCH \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\nUpload-Draft-Interop-Version: 6\r
            Upload-Offset: 0\r\nContent-Type: application/partial-upload\r\nContent-Length: 50000000\r\n\r\n
            """
          let port = server.port
          let cut = Task {
            try? await RawConnection.exchange([Data(head.utf8) + Self.film], port: port, endsInput: false)
          }
          let part = folder.appending(path: "part-\(path.suffix(36))").path
          try await eventually("half of it has arrived") {
            let attributes = try? FileManager.default.attributesOfItem(atPath: part)
            return attributes?[.size] as? Int ?? 0 > 10_000_000
          }
          server.process.send(SIGKILL)
          _ = await server.process.result()
          _ = await cut.value
          return path
        }
        try await installation.serve(changes: changes) { server in
          let state = try await server.client.send("HEAD", path, key: key, headers: [version])
          let offset = try #require(state["Upload-Offset"].flatMap { Int($0) })
          try #require(offset >= 8 << 20)
          let rest = try await server.client.send(
            "PATCH", path, key: key,
            headers: [version, ("Upload-Offset", "\(offset)"), ("Content-Type", "application/partial-upload")],
            file: Self.film[offset...])
          #expect(try rest.json(Attachment.self, status: 201).sha256 == Self.film.sha256)
          #expect(try names(in: folder) == [Self.film.sha256])
        }
      }
    }
  }

  @Test("A file at the limit of the file system or a quota is refused like one on a full disk, and an upload can go on")
  func largestFile() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await Self.makeKey(installation)
        let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.path]
        // Two mebibytes. Without the trap, a signal would end the server.
        let launcher = ["/bin/bash", "-c", #"trap '' XFSZ; ulimit -f 2048; exec "$@""#, "bash"]
        try await installation.serve(launcher: launcher, changes: changes) { server in
          let (file, limit) = (SampleMedia.png(bytes: 2_500_000), 2 << 20)
          // The last bytes of the second one cross the limit.
          for content in [file, file.prefix(limit + 1)] {
            let refused = try await Self.upload(content, type: "image/png", key: key, to: server)
            #expect(try refused.json(Problem.self, status: 507).type == "/problems/storage-full")
          }
          try await eventually("nothing is left of it") { try names(in: folder).isEmpty }
          let version = ("Upload-Draft-Interop-Version", "6")
          let begun = try await server.client.send(
            "POST", "/v1/editorial/media", key: key,
            headers: [version, ("Upload-Complete", "?0"), ("Content-Type", "image/png")])
          let path = try #require(begun["Location"])
          func append(_ bytes: Data, at offset: Int) async throws -> TestResponse {
            let part = [version, ("Upload-Offset", "\(offset)"), ("Content-Type", "application/partial-upload")]
            return try await server.client.send("PATCH", path, key: key, headers: part, file: bytes)
          }
          #expect(try await append(file, at: 0).status == 507)
          // The bytes that were written completely remain.
          let state = try await server.client.send("HEAD", path, key: key, headers: [version])
          let offset = try #require(state["Upload-Offset"].flatMap { Int($0) })
          try #require(offset > 0 && offset <= limit)
          let rest = try await append(file[offset..<limit], at: offset)
          #expect(try rest.json(Attachment.self, status: 201).sha256 == file.prefix(limit).sha256)
        }
      }
    }
  }

  @Test("A purge removes files that no item has used for the given time")
  func purge() async throws {
    try await Self.withServer { server, installation, key, folder in
      let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.path]
      for seed in 1...2 {
        let file = SampleMedia.png(seed: UInt64(seed))
        let url = try await Self.upload(file, type: "image/png", key: key, to: server)
          .json(Attachment.self, status: 201).url
        let item = """
          {"date": "2026-01-01T00:00:00Z", "text": "x", "state": "draft",
           "attachments": [{"url": "\(url)", "type": "image/png"}]}
          """
        if seed == 1 {
          #expect(try await server.send("POST", "/v1/editorial/items", key: key, body: item).status == 201)
        }
      }
      let young = try await installation.run("purge", "--older-than", "1d", changes: changes)
      #expect(young.output == "0 removals purged\n0 unused files removed\n", "\(young.errors)")
      let old = try await installation.run("purge", "--older-than", "1d", "--media-unused-for", "0s", changes: changes)
      #expect(old.output == "0 removals purged\n1 unused file removed\n", "\(old.errors)")
      #expect(try names(in: folder) == [SampleMedia.png(seed: 1).sha256])
    }
  }

  @Test("A purge removes the remains of uploads, and files that are unused for as long as the setting says")
  func purgeBySetting() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        func purge(_ days: String) async throws -> String {
          let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.path, "TIDINGS_MEDIA_UNUSED_AFTER": days]
          let result = try await installation.run("purge", "--older-than", "1d", changes: changes)
          #expect(result.status == 0, "\(result.errors)")
          return result.output
        }
        // The first one adopts the folder.
        #expect(try await purge("") == "0 removals purged\n0 unused files removed\n")
        for days in [4, 6, 8] {
          try Data("\(days)".utf8).write(to: folder.appending(path: Data("\(days)".utf8).sha256))
          try Data().write(to: folder.appending(path: "upload-\(days)"))
        }
        _ = try await installation.sql.query(
          """
          INSERT INTO media (id, sha256, type, bytes, used_at)
          SELECT gen_random_uuid(), sha256(n::text::bytea), 'image/png', 1, clock_timestamp() - n * interval '1 day'
          FROM unnest(ARRAY[4, 6, 8]) AS n
          """)
        // Without the setting, the time is a week.
        #expect(
          try await purge("") == "0 removals purged\n1 unused file removed\n3 abandoned uploads removed\n")
        try Data().write(to: folder.appending(path: "upload-9"))
        #expect(try await purge("5") == "0 removals purged\n1 unused file removed\n1 abandoned upload removed\n")
        #expect(try names(in: folder) == [Data("4".utf8).sha256])
      }
    }
  }

  /// A program that resumes the download of a URL into a partial file.
  struct Downloader: Sendable, CustomTestStringConvertible {
    let program: String
    let arguments: @Sendable (_ url: String, _ file: URL) -> [String]
    /// The number of bytes already in the file.
    let part: Int
    var testDescription: String { program }

    static let all = [
      Downloader(program: "curl", arguments: { ["-sS", "--fail", "-C", "-", "-o", $1.path, $0] }, part: 7_654_321),
      Downloader(program: "wget", arguments: { ["-q", "-c", "-O", $1.path, $0] }, part: 1),
      Downloader(
        program: "aria2c",
        arguments: { url, file in
          [
            "-q", "-x", "8", "-s", "8", "-k", "1M", "--no-conf", "--allow-overwrite=true", "-d",
            file.deletingLastPathComponent().path, "-o", file.lastPathComponent, url,
          ]
        }, part: 0),
    ].filter { FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0.program) }
  }

  @Test("Programs that resume a download or fetch ranges in parallel get the right file", arguments: Downloader.all)
  func downloaders(downloader: Downloader) async throws {
    try await Self.withServer { server, _, key, folder in
      let url = try await Self.upload(Self.film, type: "video/mp4", key: key, to: server)
        .json(Attachment.self, status: 201).url
      try await Self.publish(url, type: "video/mp4", key: key, on: server)
      try await withFolder(["empty": ""]) { files in
        let file = files.appending(path: "film.mp4")
        if downloader.part > 0 { try Self.film.prefix(downloader.part).write(to: file) }
        let process = try ChildProcess(
          downloader.arguments(server.client.url + url, file), executable: "/usr/bin/" + downloader.program,
          environment: ["HOME": files.path])
        let result = await process.result()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try Data(contentsOf: file) == Self.film)
        // The programs requested ranges.
        let metrics = try await server.send("GET", "/metrics").text
        #expect(metrics.contains(#"route="/v1/media/{id}",method="GET",status="206""#))
      }
    }
  }

  @Test("While few descriptors are free, files are a 503, other reads are answered, and the server recovers")
  func fewDescriptors() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await Self.makeKey(installation)
        try await installation.serve(
          launcher: ["/usr/bin/prlimit", "--nofile=128:128"], changes: ["TIDINGS_MEDIA_DIRECTORY": folder.path]
        ) { server in
          let uploaded = try await Self.upload(Self.film, type: "video/mp4", key: key, to: server)
          let url = try uploaded.json(Attachment.self, status: 201).url
          try await Self.publish(url, type: "video/mp4", key: key, on: server)
          let present = try BlockingConnection(port: server.port)
          _ = try present.exchange("GET /v1/state HTTP/1.1\r\nHost: a\r\n\r\n")
          // They read nothing, and the file does not fit into the buffers of the kernel. The last byte of their requests
          // comes when all are connected.
          let readers = try await ConnectionSet(
            60, port: server.port, firstBytes: "GET \(url) HTTP/1.1\r\nHost: a\r\n\r",
            connectTimeout: .milliseconds(100))
          let sending = Task { try await readers.sendRepeatedly("\n", every: .seconds(1)) }
          try await eventually("files are refused") {
            try present.send("GET \(url) HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = try present.message().head
            return head[0].contains(" 503 ") && head.contains { $0.lowercased() == "retry-after: 5" }
          }
          _ = try present.exchange("GET /v1/state HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try Usage(of: server.process).descriptors < 110)
          sending.cancel()
          _ = await sending.result
          readers.closeAll()
          try await eventually("files are sent again") { (try? await server.send("HEAD", url))?.status == 200 }
        }
      }
    }
  }

  @Test("Uploads, downloads and ranges pass a proxy", arguments: Edge.installed)
  func proxy(edge: Edge) async throws {
    try await Self.withServer { server, _, key, _ in
      let running = try await Proxy(edge.kind, servers: [server.port], cache: edge.hasCache)
      try await Proxy.with(running) { proxy in
        let uploaded = try await proxy.client.send(
          "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "video/mp4")],
          file: Self.film.prefix(5_000_000))
        let url = try uploaded.json(Attachment.self, status: 201).url
        try await Self.publish(url, type: "video/mp4", key: key, on: server)
        let whole = try await proxy.client.send("GET", url)
        #expect(whole.body == Self.film.prefix(5_000_000))
        let tag = try #require(whole["ETag"])
        let part = try await proxy.client.send(
          "GET", url, headers: [("Range", "bytes=4000000-"), ("If-Range", tag)])
        #expect(part.status == 206)
        #expect(part.body == Self.film[4_000_000..<5_000_000])
        #expect(try await proxy.client.send("GET", url, headers: [("If-None-Match", tag)]).status == 304)
        let head = try await proxy.client.send("HEAD", url)
        #expect((head.status, head["ETag"], head["Content-Length"]) == (200, tag, "5000000"))
        // The proxy caches no files.
        #expect(whole["Age"] == nil)
      }
    }
  }

  @Test(
    "Through a proxy, a file is gone as soon as its item is retracted, also for conditional requests",
    arguments: Edge.installed)
  func takenDown(edge: Edge) async throws {
    try await Self.withServer { server, _, key, folder in
      let running = try await Proxy(edge.kind, servers: [server.port], cache: edge.hasCache)
      try await Proxy.with(running) { proxy in
        let uploaded = try await Self.upload(SampleMedia.png(), type: "image/png", key: key, to: server)
        let url = try uploaded.json(Attachment.self, status: 201).url
        let body =
          #"{"date": "2026-01-01T00:00:00Z", "text": "x", "attachments": [{"url": "\#(url)", "type": "image/png"}]}"#
        let item = try await proxy.client.send("POST", "/v1/editorial/items", key: key, body: body)
          .json(EditorialItem.self, status: 201).item.id.uuidString.lowercased()
        let before = try await proxy.client.send("GET", url)
        #expect(before["Cache-Control"]?.hasPrefix("max-age=3600, s-maxage=1, ") == true)
        let tag = try #require(before["ETag"])
        #expect(try await proxy.client.send("GET", url, headers: [("If-None-Match", tag)]).status == 304)
        let removal = url.replacing("/v1/", with: "/v1/editorial/")
        #expect(try await proxy.client.send("DELETE", removal, key: key).status == 409)
        let path = "/v1/editorial/items/\(item)"
        #expect(try await proxy.client.send("DELETE", path, key: key, headers: [("If-Match", "*")]).status == 204)
        for headers in [[], [("If-None-Match", tag)], [("Range", "bytes=0-9")]] {
          let gone = try await proxy.client.send("GET", url, headers: headers)
          #expect(gone.status == 410)
          #expect(gone["Cache-Control"] == "max-age=0, s-maxage=1")
        }
        #expect(try await proxy.client.send("POST", path + "/erase", key: key).status == 204)
        #expect(try await proxy.client.send("GET", url).json(Problem.self, status: 410).reason == "removed")
        #expect(try await proxy.client.send("GET", "/v1/items/\(item)").status == 410)
        #expect(try names(in: folder).isEmpty)
      }
    }
  }

  @Test("An export keeps the URLs of files")
  func export() async throws {
    try await Self.withServer { server, installation, key, _ in
      let url = try await Self.upload(SampleMedia.png(), type: "image/png", key: key, to: server)
        .json(Attachment.self, status: 201).url
      try await Self.publish(url, type: "image/png", key: key, on: server)
      let lines = try await installation.run("export").output
      try await withFolder(["news.jsonl": lines]) { files in
        try await Installation.with { other in
          let result = try await other.run("import", files.appending(path: "news.jsonl").path)
          #expect(result.status == 0, "\(result.errors)")
          #expect(try await other.run("export").output == lines)
        }
      }
    }
  }

  @Test("curl uploads a file as the manual says, and the answer goes into an item")
  func manual() async throws {
    try await Self.withServer { server, _, key, folder in
      try await withFolder(["photo.png": ""]) { files in
        let file = files.appending(path: "photo.png")
        // More than curl sends without `Expect: 100-continue`.
        let photo = SampleMedia.png(bytes: 3_000_000)
        try photo.write(to: file)
        let process = try ChildProcess(
          [
            "-sS", "--fail", server.client.url + "/v1/editorial/media", "-H", "Authorization: Bearer \(key)",
            "-H", "Content-Type: image/png", "-H", "Content-Disposition: attachment; filename=photo.png",
            "--data-binary", "@\(file.path)",
          ], executable: "/usr/bin/curl", environment: ["HOME": files.path])
        let result = await process.result()
        #expect(result.status == 0, "\(result.errors)")
        let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x", "attachments": [\#(result.output)]}"#
        let item = try await server.send("POST", "/v1/editorial/items", key: key, body: body)
        let attachment = try #require(try item.json(EditorialItem.self, status: 201).item.attachments.first)
        #expect(try await server.send("GET", attachment.url).body == photo)
      }
    }
  }
}
