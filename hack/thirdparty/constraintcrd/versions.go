package main

// hack/thirdparty.sh reads the kinds of Istio from its module, which go.mod has as long as something imports it.
import _ "istio.io/api/label"
