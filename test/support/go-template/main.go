// Renders the templates of a Helm chart as Helm's engine does: Go's text/template with missingkey=zero, all files in one
// set, and of Sprig's and Helm's functions those that the chart uses, with their order of arguments.
//
// stdin: {"files": {"templates/a.yaml": "text"}, "data": {"Values": …, "Release": …, "Chart": …}}
// stdout: {"templates/a.yaml": "rendered"}; what fails goes to stderr, with exit code 1.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"text/template"
)

type input struct {
	Files map[string]string      `json:"files"`
	Data  map[string]interface{} `json:"data"`
}

func empty(value interface{}) bool {
	truth, ok := template.IsTrue(value)
	return !ok || !truth
}

// Block style, keys in order, scalars as JSON writes them.
func yamlLines(value interface{}) []string {
	lines := []string{}
	switch held := value.(type) {
	case map[string]interface{}:
		keys := []string{}
		for key := range held {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		for _, key := range keys {
			below := yamlLines(held[key])
			if isBlock(held[key]) {
				lines = append(lines, scalar(key)+":")
				lines = append(lines, indented(below, "  ")...)
			} else {
				lines = append(lines, scalar(key)+": "+below[0])
			}
		}
	case []interface{}:
		for _, item := range held {
			below := indented(yamlLines(item), "  ")
			below[0] = "- " + strings.TrimPrefix(below[0], "  ")
			lines = append(lines, below...)
		}
	}
	if len(lines) == 0 {
		return []string{scalar(value)}
	}
	return lines
}

func isBlock(value interface{}) bool {
	switch held := value.(type) {
	case map[string]interface{}:
		return len(held) > 0
	case []interface{}:
		return len(held) > 0
	}
	return false
}

func scalar(value interface{}) string {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func indented(lines []string, pad string) []string {
	for i := range lines {
		lines[i] = pad + lines[i]
	}
	return lines
}

func functions(set *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data interface{}) (string, error) {
			var out bytes.Buffer
			err := set.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"fail": func(message string) (string, error) { return "", errors.New(message) },
		"required": func(message string, value interface{}) (interface{}, error) {
			if value == nil || reflect.DeepEqual(value, "") {
				return nil, fmt.Errorf("%s", message)
			}
			return value, nil
		},
		"default": func(fallback, value interface{}) interface{} {
			if empty(value) {
				return fallback
			}
			return value
		},
		"toYaml": func(value interface{}) string { return strings.Join(yamlLines(value), "\n") },
		"quote":  func(value interface{}) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"replace":    func(old, fresh, text string) string { return strings.ReplaceAll(text, old, fresh) },
		"regexMatch": func(pattern, text string) (bool, error) { return regexp.MatchString(pattern, text) },
		"sha256sum":  func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
		"trunc": func(most int, text string) string {
			if len(text) > most {
				return text[:most]
			}
			return text
		},
		"nindent": func(spaces int, text string) string {
			pad := "\n" + strings.Repeat(" ", spaces)
			return pad + strings.ReplaceAll(text, "\n", pad)
		},
		"dict": func(pairs ...interface{}) map[string]interface{} {
			made := map[string]interface{}{}
			for i := 0; i+1 < len(pairs); i += 2 {
				made[fmt.Sprint(pairs[i])] = pairs[i+1]
			}
			return made
		},
		"join": func(separator string, list []interface{}) string {
			parts := []string{}
			for _, part := range list {
				parts = append(parts, fmt.Sprint(part))
			}
			return strings.Join(parts, separator)
		},
		"ternary": func(yes, no interface{}, which bool) interface{} {
			if which {
				return yes
			}
			return no
		},
	}
}

func render(given input) (map[string]string, error) {
	set := template.New("chart").Option("missingkey=zero")
	set.Funcs(functions(set))
	for path, text := range given.Files {
		if _, err := set.New(path).Parse(text); err != nil {
			return nil, err
		}
	}
	rendered := map[string]string{}
	for path := range given.Files {
		if strings.HasSuffix(path, ".tpl") {
			continue
		}
		var out bytes.Buffer
		if err := set.ExecuteTemplate(&out, path, given.Data); err != nil {
			return nil, err
		}
		rendered[path] = strings.ReplaceAll(out.String(), "<no value>", "")
	}
	return rendered, nil
}

func main() {
	var given input
	decoder := json.NewDecoder(os.Stdin)
	decoder.UseNumber()
	err := decoder.Decode(&given)
	if err == nil {
		var rendered map[string]string
		if rendered, err = render(given); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(rendered)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
