package ratelimit

// node makes a place part of a treap: a search tree by turn, and a heap by a weight that looks random, so that the tree
// is as deep as the logarithm of its size. All methods work on an empty tree, which is nil.
type node struct {
	left, right *place
	size        int
	weight      uint64
}

func (p *place) count() int {
	if p == nil {
		return 0
	}
	return p.size
}

// before counts the places whose turn is before t.
func (p *place) before(t turn) int {
	n := 0
	for p != nil {
		if p.turn.before(t) {
			n += p.left.count() + 1
			p = p.right
		} else {
			p = p.left
		}
	}
	return n
}

// first is the place whose turn it is. There is one.
func (p *place) first() *place {
	for p.left != nil {
		p = p.left
	}
	return p
}

// insert returns the tree with q, which is in no tree.
func (p *place) insert(q *place) *place {
	left, right := p.split(q.turn)
	q.node = node{size: 1, weight: scatter(q.arrival)}
	return merge(merge(left, q), right)
}

// remove returns the tree without q, which is in it.
func (p *place) remove(q *place) *place {
	switch {
	case p == q:
		return merge(p.left, p.right)
	case q.turn.before(p.turn):
		p.left = p.left.remove(q)
	default:
		p.right = p.right.remove(q)
	}
	return p.counted()
}

// split parts the tree into what is before t and what is not.
func (p *place) split(t turn) (left, right *place) {
	switch {
	case p == nil:
		return nil, nil
	case p.turn.before(t):
		p.right, right = p.right.split(t)
		return p.counted(), right
	}
	left, p.left = p.left.split(t)
	return left, p.counted()
}

// merge joins two trees, of which all of one is before all of the other.
func merge(left, right *place) *place {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case left.weight > right.weight:
		left.right = merge(left.right, right)
		return left.counted()
	}
	right.left = merge(left, right.left)
	return right.counted()
}

func (p *place) counted() *place {
	p.size = p.left.count() + 1 + p.right.count()
	return p
}

// scatter makes a weight of a number that counts up: the finalizer of SplitMix64, which maps no two numbers to the same
// one.
func scatter(n uint64) uint64 {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
