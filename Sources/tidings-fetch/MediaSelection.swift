import ArgumentParser
import HTTPTransfer
import NewsClient

extension StoreSettings {
  /// The files of new items to download.
  var media: AttachmentPolicy.Selection { values[.media].flatMap { .init(rawValue: $0) } ?? .none }
}

extension TidingsFetch {
  /// Hands the attachments of fetched items to the worker.
  ///
  /// - Returns: nil if no attachments are wanted or they cannot be kept. The fetch continues then, and the reason is
  ///   logged.
  func downloads(_ settings: StoreSettings, _ client: NewsFetcher) -> AttachmentDownloads? {
    if settings.media == .none { return nil }
    do {
      let worker = try workerProcess()
      return try AttachmentDownloads(client, policy: AttachmentPolicy(settings.media)) { try worker.start() }
    } catch {
      Output.log("cannot download the files of items: \(error)")
      return nil
    }
  }
}
