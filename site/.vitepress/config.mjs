import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { home } from '../home.mjs'
import { fencesAsDiagrams, linksOutOfDocs, slugify, unknownTagsAsText } from '../markdown.mjs'
import { sidebar } from '../sidebar.mjs'

const docs = fileURLToPath(new URL('../../docs', import.meta.url))
const repository = 'https://github.com/cloudfront-tenant-operator/cloudfront-tenant-operator'

// hack/site.sh says which version this is, which others are published, and where: SITE_URL is the folder of all versions.
const version = process.env.SITE_VERSION ?? 'next'
const versions = (process.env.SITE_VERSIONS ?? version).split(' ')
const url = process.env.SITE_URL
const base = url ? new URL(`${version}/`, url).pathname : '/'

export default defineConfig({
  title: 'CloudFront tenant operator',
  description: 'A Kubernetes operator for Amazon CloudFront SaaS Manager: a domain for every customer, from Kubernetes objects or a customers table',
  srcDir: '../docs',
  outDir: process.env.SITE_OUT ?? '../dist/site',
  base,
  cleanUrls: true,
  lastUpdated: false,
  titleTemplate: ':title | CloudFront tenant operator',
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }],
    ['meta', { name: 'theme-color', content: '#0969da' }],
    ['meta', { property: 'og:type', content: 'website' }],
    ['meta', { property: 'og:site_name', content: 'CloudFront tenant operator' }],
  ],
  sitemap: url ? { hostname: new URL(`${version}/`, url).href } : undefined,
  transformHead({ pageData, title, description }) {
    const path = pageData.relativePath.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')
    const head = [
      ['meta', { property: 'og:title', content: title }],
      ['meta', { property: 'og:description', content: pageData.description || description }],
    ]
    return url ? [...head, ['link', { rel: 'canonical', href: new URL(`${version}/${path}`, url).href }]] : head
  },
  markdown: {
    anchor: { slugify },
    config(md) {
      md.use(fencesAsDiagrams)
      md.use(unknownTagsAsText)
      md.use(linksOutOfDocs, { docs, repository, ref: version === 'next' ? 'main' : version })
    },
  },
  // docs/ is outside of this folder, and so are its pages' imports.
  vite: {
    publicDir: fileURLToPath(new URL('../public', import.meta.url)),
    resolve: { preserveSymlinks: true, alias: { vue: fileURLToPath(new URL('../node_modules/vue', import.meta.url)) } },
    server: { fs: { allow: ['../..'] } },
    build: { chunkSizeWarningLimit: 3000 },
  },
  transformPageData(page) {
    if (page.relativePath === 'index.md') {
      page.frontmatter = { ...page.frontmatter, ...home }
      page.title = 'Customer domains on Amazon CloudFront SaaS Manager'
    }
    if (page.relativePath.startsWith('reference/') || page.relativePath === 'contributing/rules.md') {
      page.frontmatter.editLink = false // generated
    }
  },
  themeConfig: {
    logo: '/icon.svg',
    siteTitle: 'CloudFront tenant operator',
    search: { provider: 'local', options: { detailedView: true } },
    outline: { level: [2, 3] },
    sidebar: sidebar(docs),
    nav: [
      { text: 'Quickstart', link: '/quickstart' },
      { text: 'Guides', link: '/concepts' },
      { text: 'Reference', link: '/reference/api' },
      {
        text: version,
        items: versions.map((v) => ({
          text: v === 'next' ? 'next (main, unreleased)' : v,
          link: url ? new URL(`${v}/`, url).href : '/',
          target: '_self',
          noIcon: true,
        })),
      },
    ],
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page on GitHub' },
    footer: { message: 'Apache-2.0. An independent project, not affiliated with Amazon Web Services.' },
  },
})
