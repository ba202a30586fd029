/**
 * A small YAML editor: CodeMirror with what a template needs. It lives in a shadow root, where its styles are
 * constructed sheets; as elements in the document the policy of the page would refuse them.
 */
import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { completeField } from './complete-field.ts'
import { highlights, look } from './editor-look.ts'
import type { TextFault } from './template-text.ts'

export interface YamlEditor {
  text(): string
  /** As an edit, which can be undone. */
  replace(text: string): void
  mark(faults: readonly TextFault[]): void
  close(): void
}

export function openEditor(host: HTMLElement, text: string, onEdit: () => void): YamlEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const view = new EditorView({
    doc: text,
    parent: root,
    root,
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      yaml(),
      lintGutter(),
      autocompletion({ override: [completeField] }),
      syntaxHighlighting(HighlightStyle.define(highlights)),
      // Tab leaves the editor, as every other field.
      keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
      EditorView.contentAttributes.of({ 'aria-label': 'Template', tabindex: '0' }),
      EditorView.theme(look),
      EditorView.updateListener.of(({ docChanged }) => docChanged && onEdit()),
    ],
  })
  return {
    text: () => view.state.doc.toString(),
    replace(changed) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: changed } })
    },
    mark(faults) {
      const { length } = view.state.doc
      const diagnostics = faults.map(({ from, to, message }) => ({
        from: Math.min(from, length),
        to: Math.min(Math.max(to, from), length),
        severity: 'error' as const,
        message,
      }))
      const [first] = diagnostics
      view.dispatch(
        setDiagnostics(view.state, diagnostics),
        // It may stand out of sight.
        ...(first === undefined ? [] : [{ effects: EditorView.scrollIntoView(first.from, { y: 'center' }) }]),
      )
    },
    close: () => view.destroy(),
  }
}
