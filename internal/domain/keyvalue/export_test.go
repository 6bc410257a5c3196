package keyvalue

// Doubts reports whether it can't be told who has created a key: the store was not read yet, or an update was not answered.
func (s *Store) Doubts() bool { return !s.read || len(s.doubtful) > 0 }
