// GoServer is an ordinary service in Go with pgx: a query for each request, encoding/json, and an entity tag from the
// body. It serves pages of the news in the database of Tidings, for a comparison of first reads. Under /memory it serves the
// first page as it was at the start, without a query.
//
//	GoServer URL    listens on any port of 127.0.0.1 and prints the port
package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v4/pgxpool"
)

type item struct {
	Attachments json.RawMessage `json:"attachments"`
	Author      *string         `json:"author,omitempty"`
	Breaking    bool            `json:"breaking"`
	Date        string          `json:"date"`
	ID          string          `json:"id"`
	Language    *string         `json:"language,omitempty"`
	Summary     *string         `json:"summary,omitempty"`
	Text        string          `json:"text"`
	Title       *string         `json:"title,omitempty"`
	Topics      []string        `json:"topics"`
	Updated     string          `json:"updated"`
	URL         *string         `json:"url,omitempty"`
	Version     int64           `json:"version"`
}

type page struct {
	Items []item `json:"items"`
}

const query = `
SELECT i.id::text, c.version, c.date, c.updated, i.text, i.title, i.summary, i.topics, i.language, i.url, i.author,
  i.breaking, i.attachments
FROM change_log AS c JOIN items AS i ON i.id = c.item
WHERE c.scope = $1 AND c.present AND c.date < $2
ORDER BY c.date DESC, c.item DESC LIMIT $3`

const layout = "2006-01-02T15:04:05.000Z"

type server struct{ pool *pgxpool.Pool }

func (s server) items(ctx context.Context, topic string, to time.Time, limit int) (page, error) {
	found := page{Items: []item{}}
	rows, err := s.pool.Query(ctx, query, topic, to, limit)
	if err != nil {
		return found, err
	}
	defer rows.Close()
	for rows.Next() {
		var i item
		var date, updated time.Time
		err := rows.Scan(&i.ID, &i.Version, &date, &updated, &i.Text, &i.Title, &i.Summary, &i.Topics, &i.Language,
			&i.URL, &i.Author, &i.Breaking, &i.Attachments)
		if err != nil {
			return found, err
		}
		i.Date, i.Updated = date.UTC().Format(layout), updated.UTC().Format(layout)
		found.Items = append(found.Items, i)
	}
	return found, rows.Err()
}

func (s server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parameters := r.URL.Query()
	limit, to := 50, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	var err error
	if text := parameters.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > 200 {
			http.Error(w, "limit must be a number from 1 to 200", http.StatusBadRequest)
			return
		}
	}
	if text := parameters.Get("to"); text != "" {
		if to, err = time.Parse(time.RFC3339Nano, text); err != nil {
			http.Error(w, "to must be a date", http.StatusBadRequest)
			return
		}
	}
	found, err := s.items(r.Context(), parameters.Get("topics"), to, limit)
	if err != nil {
		log.Print(err)
		http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		return
	}
	body, err := json.Marshal(found)
	if err != nil {
		log.Print(err)
		http.Error(w, "the page cannot be written", http.StatusInternalServerError)
		return
	}
	write(w, r, body, tag(body))
}

func tag(body []byte) string {
	digest := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(digest[:16]) + `"`
}

// write sends a body, or 304 if the client has it.
func write(w http.ResponseWriter, r *http.Request, body []byte, tag string) {
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "max-age=0, s-maxage=1")
	if condition := r.Header.Get("If-None-Match"); condition == tag || condition == "*" {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

func main() {
	configuration, err := pgxpool.ParseConfig(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	configuration.MaxConns = 8
	pool, err := pgxpool.ConnectConfig(context.Background(), configuration)
	if err != nil {
		log.Fatal(err)
	}
	s := server{pool}
	found, err := s.items(context.Background(), "", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 50)
	if err != nil {
		log.Fatal(err)
	}
	body, err := json.Marshal(found)
	if err != nil {
		log.Fatal(err)
	}
	kept := tag(body)
	http.Handle("/", s)
	http.HandleFunc("/memory", func(w http.ResponseWriter, r *http.Request) { write(w, r, body, kept) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, nil))
}
