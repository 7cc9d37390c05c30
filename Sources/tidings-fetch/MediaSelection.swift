public import ArgumentParser
import HTTPTransfer
public import NewsClient

typealias MediaSelection = AttachmentPolicy.Selection

extension AttachmentPolicy.Selection: ExpressibleByArgument {
  /// The help of the option `--media`.
  static var help: ArgumentHelp {
    "The files of new items to download: none, thumbnails or all (TIDINGS_FETCH_MEDIA)."
  }
}

extension StoreSettings {
  /// The files of new items to download.
  ///
  /// - Parameter option: The option `--media`, which replaces the setting.
  func media(_ option: MediaSelection?) -> MediaSelection {
    option ?? self[.media].flatMap { MediaSelection(rawValue: $0) } ?? .none
  }
}

extension TidingsFetch {
  /// Hands the attachments of fetched items to the worker.
  ///
  /// - Parameter media: The option `--media`.
  /// - Returns: nil if no attachments are wanted or they cannot be kept. The fetch continues then, and the reason is
  ///   logged.
  func downloads(
    _ media: MediaSelection?, _ settings: StoreSettings, _ client: NewsFetcher
  ) -> AttachmentDownloads? {
    let selection = settings.media(media)
    if selection == MediaSelection.none { return nil }
    do {
      let worker = try workerProcess()
      return try AttachmentDownloads(client, policy: AttachmentPolicy(selection)) { try worker.start() }
    } catch {
      Output.log("cannot download the files of items: \(error)")
      return nil
    }
  }
}
