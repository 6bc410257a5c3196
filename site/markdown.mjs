// What makes pages that are written for GitHub work on the site.
import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

// slugify names headings as GitHub does, so that links to them hold in both places.
export function slugify(title) {
  return title.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
}

// fencesAsDiagrams draws blocks of the language mermaid. The component is in .vitepress/theme.
export function fencesAsDiagrams(md) {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, i, ...rest) => {
    if (tokens[i].info.trim() !== 'mermaid') {
      return fence(tokens, i, ...rest)
    }
    return `<Diagram code="${encodeURIComponent(tokens[i].content)}" />\n`
  }
}

// linksOutOfDocs leads links to files that are not pages, such as samples, values and tests, to the repository. A link to
// a file that does not exist ends the build.
export function linksOutOfDocs(md, { docs, repository, ref }) {
  md.core.ruler.push('links-out-of-docs', (state) => {
    for (const token of state.tokens.flatMap((t) => t.children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null
      if (!href || /^([a-z]+:|#|\/)/i.test(href)) {
        continue
      }
      const [path, fragment] = href.split('#')
      const target = resolve(docs, dirname(state.env.relativePath ?? ''), decodeURI(path))
      const inside = relative(docs, target)
      if (!inside.startsWith('..') && (path.endsWith('.md') || path.endsWith('/'))) {
        continue
      }
      const file = relative(join(docs, '..'), target)
      if (!existsSync(target)) {
        throw new Error(`${state.env.relativePath} links to ${href}, which does not exist`)
      }
      const view = statSync(target).isDirectory() ? 'tree' : 'blob'
      token.attrSet('href', `${repository}/${view}/${ref}/${file}${fragment ? '#' + fragment : ''}`)
    }
  })
}

const tag = /^<!--|^<\/?(a|br|details|div|img|kbd|p|picture|source|sub|summary|sup)\b/i

// unknownTagsAsText shows <name> in a sentence as it is written: Vue would take it for a component.
export function unknownTagsAsText(md) {
  for (const rule of ['html_inline', 'html_block']) {
    const render = md.renderer.rules[rule]
    md.renderer.rules[rule] = (tokens, i, ...rest) =>
      tag.test(tokens[i].content.trim()) ? render(tokens, i, ...rest) : md.utils.escapeHtml(tokens[i].content)
  }
}
