// Made by scripts/embed from Sources/NewsPages/Texts; do not edit.
// swift-format-ignore-file

/// The names and texts of all files in Texts, sorted by name.
let embeddedTexts: [(name: String, text: String)] = [
  ("de.txt", #"""
# Die Texte der Seiten, einer je Zeile: Schlüssel = Text. Ein Name in geschweiften Klammern wird durch einen Wert ersetzt.
all-news = Alle Meldungen
breaking = Eilmeldung
credit = Foto:
date = {day}. {month} {year}, {time} UTC
empty = Hier ist noch nichts erschienen.
error-400-text = Die Adresse enthält etwas, das diese Seite nicht versteht. Vielleicht wurde sie unterwegs gekürzt.
error-400-title = Die Adresse ist unvollständig
error-404-text = Unter dieser Adresse gibt es nichts, oder es ist nicht öffentlich.
error-404-title = Seite nicht gefunden
error-410-text = Die Redaktion hat diesen Artikel zurückgezogen, oder seine Zeit ist abgelaufen.
error-410-title = Nicht mehr verfügbar
error-500-text = Ein Fehler ist aufgetreten. Bitte versuchen Sie es später noch einmal.
error-500-title = Etwas ist schiefgegangen
error-503-text = Die Nachrichten können gerade nicht geladen werden. Bitte versuchen Sie es in einigen Sekunden noch einmal.
error-503-title = Vorübergehend nicht erreichbar
feeds = Feeds
files = Dateien
latest = Aktuelle Meldungen
month-1 = Januar
month-10 = Oktober
month-11 = November
month-12 = Dezember
month-2 = Februar
month-3 = März
month-4 = April
month-5 = Mai
month-6 = Juni
month-7 = Juli
month-8 = August
month-9 = September
newer = Neuere Meldungen
newest = Zurück zu den neuesten
older = Ältere Meldungen
notify = Benachrichtigen
notify-all = Sie erhalten Benachrichtigungen zu allen Themen.
notify-busy = Gerade gibt es zu viele Anfragen. Bitte versuchen Sie es in zehn Minuten noch einmal.
notify-denied = Ihr Browser blockiert Benachrichtigungen dieser Seite. In seinen Einstellungen können Sie sie erlauben.
notify-failed = Das hat nicht funktioniert. Vielleicht kann Ihr Browser gerade keine Benachrichtigungen empfangen.
notify-missing = Benachrichtigungen sind zurzeit nicht möglich.
notify-news = Es gibt Neuigkeiten.
notify-offline = Der Server antwortet nicht. Bitte versuchen Sie es später noch einmal.
notify-on = Benachrichtigungen sind an.
notify-stop = Keine Benachrichtigungen mehr
original = Zum Original bei {host}
pages = Seiten
site-description = Aktuelle Meldungen von {site}
skip = Zum Inhalt springen
times = Alle Zeiten in UTC.
to-front = Zu den aktuellen Meldungen
topic-description = Aktuelle Meldungen zum Thema {topic} von {site}
topics = Themen

"""#
  ),
  ("en.txt", #"""
# The texts of pages, one per line: key = text. A name in braces is replaced by a value.
all-news = All news
breaking = Breaking
credit = Photo:
date = {day} {month} {year}, {time} UTC
empty = Nothing has been published here yet.
error-400-text = The address contains something that this page does not understand. It may have been shortened on its way.
error-400-title = The address is not complete
error-404-text = There is nothing at this address, or it is not public.
error-404-title = Page not found
error-410-text = The editors have taken this article back, or its time is over.
error-410-title = No longer available
error-500-text = An error has occurred. Please try again later.
error-500-title = Something went wrong
error-503-text = The news cannot be loaded at the moment. Please try again in a few seconds.
error-503-title = Temporarily unavailable
feeds = Feeds
files = Files
latest = Latest news
month-1 = January
month-10 = October
month-11 = November
month-12 = December
month-2 = February
month-3 = March
month-4 = April
month-5 = May
month-6 = June
month-7 = July
month-8 = August
month-9 = September
newer = Newer news
newest = Back to the newest
older = Older news
notify = Notify me
notify-all = You receive notifications about all topics.
notify-busy = Too many requests at the moment. Please try again in ten minutes.
notify-denied = Your browser blocks notifications of this site. You can allow them in its settings.
notify-failed = That did not work. Perhaps your browser cannot receive notifications at the moment.
notify-missing = Notifications are not available at the moment.
notify-news = There is news.
notify-offline = The server does not respond. Please try again later.
notify-on = Notifications are on.
notify-stop = Stop notifications
original = Read the original at {host}
pages = Pages
site-description = The latest news from {site}
skip = Skip to the content
times = All times are in UTC.
to-front = To the latest news
topic-description = The latest news about {topic} from {site}
topics = Topics

"""#
  ),
]
